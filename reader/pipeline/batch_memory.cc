#include "reader/pipeline/batch_memory.h"

#include <sys/mman.h>

#include <utility>

#include "imgpack/error.h"

namespace imgpack {

namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Large buffers in large pages, where the system has them to give: fewer faults and misses.
AlignedBuffer allocate(std::size_t bytes) {
  if (bytes < 2 * kHugePage) return AlignedBuffer(bytes, kAlignment);
  AlignedBuffer buffer(bytes, kHugePage);
  (void)madvise(buffer.bytes().data(), buffer.bytes().size(), MADV_HUGEPAGE);
  return buffer;
}

}  // namespace

std::shared_ptr<BatchPool> BatchPool::create(const Settings& settings, std::shared_ptr<BatchDevice> device) {
  return std::shared_ptr<BatchPool>(new BatchPool(settings, std::move(device)));
}

BatchPool::BatchPool(const Settings& settings, std::shared_ptr<BatchDevice> device)
    : settings_(settings), device_(std::move(device)) {
  free_.reserve(settings_.kept);
}

std::shared_ptr<BatchMemory> BatchPool::take(std::uint32_t size, std::uint32_t room) {
  std::unique_ptr<BatchMemory> memory;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      memory = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (!memory) memory = std::make_unique<BatchMemory>();
  const BatchFormat& format = settings_.format;
  memory->format = format;
  memory->size = size;
  make_room(*memory, room);
  memory->labels.resize(size);
  memory->soft_labels.resize(std::size_t{size} * format.soft_classes);
  memory->mask.assign(size, 1);
  memory->records.resize(size);
  memory->datasets.resize(size);
  memory->skipped = 0;
  BatchMemory* const released = memory.release();
  return {released, [pool = shared_from_this()](BatchMemory* used) noexcept {
            pool->give_back(std::unique_ptr<BatchMemory>(used));
          }};
}

void BatchPool::make_room(BatchMemory& memory, std::uint32_t room) const {
  if (!device_) {
    const std::size_t bytes = settings_.format.image_bytes() * room;
    if (memory.images.bytes().size() < bytes) memory.images = allocate(bytes);
  } else if (!memory.device) {  // for any batch: device memory takes long to get
    memory.device.reset(device_->allocate(settings_.size, settings_.room).release());
    memory.place = {.type = Device::Type::cuda, .index = device_->number()};
  }
}

void BatchPool::give_back(std::unique_ptr<BatchMemory> memory) noexcept {
  if (!own_.here()) return;
  if (memory->device) memory->device->release();
  const std::lock_guard lock(mutex_);
  if (free_.size() < settings_.kept) free_.push_back(std::move(memory));
}

std::uint32_t Batch::size() const noexcept {
  return memory_ ? memory_->size : 0;
}
std::uint32_t Batch::height() const noexcept {
  return memory_ ? memory_->format.image.height : 0;
}
std::uint32_t Batch::width() const noexcept {
  return memory_ ? memory_->format.image.width : 0;
}
DType Batch::dtype() const noexcept {
  return memory_ ? memory_->format.dtype : DType::f32;
}
Layout Batch::layout() const noexcept {
  return memory_ ? memory_->format.layout : Layout::nchw;
}

std::array<std::int64_t, 4> Batch::shape() const noexcept {
  return {size(), channels(), height(), width()};
}

std::array<std::int64_t, 4> Batch::strides() const noexcept {
  const std::int64_t h = height();
  const std::int64_t w = width();
  const std::int64_t c = channels();
  if (layout() == Layout::nhwc) return {h * w * c, 1, w * c, c};
  return {h * w * c, h * w, w, 1};
}

std::span<std::byte> Batch::images() const noexcept {
  if (!memory_) return {};
  return {memory_->first_image(), memory_->format.image_bytes() * memory_->size};
}
Device Batch::device() const noexcept {
  return memory_ ? memory_->place : Device{};
}
void Batch::use_on(void* stream) const {
  if (!memory_ || !memory_->device) return;
  if (!memory_->device.get_deleter().here()) {
    throw Error(ErrorCode::unsupported,
                "a batch on a CUDA device: CUDA does not work in a child after fork(): start processes with spawn");
  }
  memory_->device->use_on(stream);
}
std::span<std::int64_t> Batch::labels() const noexcept {
  return memory_ ? std::span(memory_->labels) : std::span<std::int64_t>();
}
std::span<float> Batch::soft_labels() const noexcept {
  return memory_ ? std::span(memory_->soft_labels) : std::span<float>();
}
std::uint32_t Batch::soft_classes() const noexcept {
  return memory_ ? memory_->format.soft_classes : 0;
}
std::span<const std::uint8_t> Batch::mask() const noexcept {
  return memory_ ? std::span<const std::uint8_t>(memory_->mask) : std::span<const std::uint8_t>();
}
std::span<const std::uint64_t> Batch::records() const noexcept {
  return memory_ ? std::span<const std::uint64_t>(memory_->records) : std::span<const std::uint64_t>();
}
std::span<const std::uint32_t> Batch::datasets() const noexcept {
  return memory_ ? std::span<const std::uint32_t>(memory_->datasets) : std::span<const std::uint32_t>();
}
std::span<std::int64_t> Batch::device_labels() const noexcept {
  return memory_ && memory_->device ? std::span(memory_->device->labels, memory_->size) : labels();
}
std::span<float> Batch::device_soft_labels() const noexcept {
  return memory_ && memory_->device ? std::span(memory_->device->soft_labels, memory_->soft_labels.size())
                                    : soft_labels();
}
std::span<const std::uint8_t> Batch::device_mask() const noexcept {
  return memory_ && memory_->device ? std::span<const std::uint8_t>(memory_->device->mask, memory_->size) : mask();
}
std::uint64_t Batch::epoch() const noexcept {
  return memory_ ? memory_->epoch : 0;
}
std::uint64_t Batch::step() const noexcept {
  return memory_ ? memory_->step : 0;
}
std::uint32_t Batch::skipped() const noexcept {
  return memory_ ? memory_->skipped : 0;
}
LoaderState Batch::state() const noexcept {
  return memory_ ? memory_->after : LoaderState{};
}

}  // namespace imgpack
