#include "measure/loose_loader.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "codec/decode.h"
#include "codec/other/other_image.h"
#include "imgpack/error.h"
#include "mmap/byte_buffer.h"
#include "reader/augment/augmenter.h"
#include "reader/augment/sample_maker.h"
#include "reader/random/random_stream.h"
#include "reader/sampling/permutation.h"

namespace imgpack::measure {

namespace {

/// Batches in memory: the one in the consumer's hands and those that are being made, as many as imgpack's loader makes
/// ahead by itself.
constexpr std::uint64_t kSlots = 4;
constexpr std::size_t kImageAlignment = 64;
/// Where a batch is larger, a core's caches have forgotten an image before anybody reads it.
constexpr std::size_t kMostCached = std::size_t{8} << 20;

struct Slot {
  ByteBuffer memory;
  std::byte* images = nullptr;  ///< in `memory`, aligned
  std::vector<std::int64_t> labels;
  std::vector<std::uint64_t> records;
  std::uint32_t done = 0;  ///< images that are finished
};

/// What a thread has taken on.
struct Task {
  std::uint64_t epoch = 0;
  std::uint64_t record = 0;
  Slot* slot = nullptr;
  std::uint32_t index = 0;   ///< in the batch
  std::uint32_t images = 0;  ///< of the batch
};

ImageSize one_size(const Augmenter& augmenter) {
  if (!augmenter.mixing().empty()) {
    throw Error(ErrorCode::invalid_argument, "loose files are measured without MixUp and CutMix");
  }
  const std::optional<ImageSize> size = augmenter.output_size();
  if (!size) throw Error(ErrorCode::invalid_argument, "a batch needs a transform that gives all images one size");
  return *size;
}

}  // namespace

struct LooseLoader::State {
  State(std::shared_ptr<const std::vector<LooseFile>> files_in, const BatchStreamOptions& options_in)
      : files(std::move(files_in)),
        options(options_in),
        augmenter(options.transform, options.dtype, options.layout),
        size(one_size(augmenter)),
        bytes_an_image(image_bytes({size.width, size.height}, options.dtype)),
        batches_an_epoch((files->size() + options.batch_size - 1) / options.batch_size) {
    for (Slot& slot : slots) prepare(slot);
  }

  void prepare(Slot& slot) const {
    slot.memory.resize(bytes_an_image * options.batch_size + kImageAlignment);
    const auto address = reinterpret_cast<std::uintptr_t>(slot.memory.data());
    slot.images = slot.memory.data() + (kImageAlignment - address % kImageAlignment) % kImageAlignment;
    slot.labels.resize(options.batch_size);
    slot.records.resize(options.batch_size);
  }

  std::uint32_t size_of_batch(std::uint64_t batch) const {
    const std::uint64_t begin = batch % batches_an_epoch * options.batch_size;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(options.batch_size, files->size() - begin));
  }
  bool at_end(std::uint64_t batch) const { return options.single_pass && batch >= batches_an_epoch; }

  // The rest with the mutex held.

  bool can_take() const { return !at_end(open_batch) && open_batch < delivered + kSlots; }
  Task take() {
    const std::uint64_t epoch = open_batch / batches_an_epoch;
    const std::uint64_t position = open_batch % batches_an_epoch * options.batch_size + next_index;
    const Permutation order(files->size(), random_key(options.seed, epoch, RandomPurpose::order));
    const Task task{.epoch = epoch,
                    .record = order(position),
                    .slot = &slots[open_batch % kSlots],
                    .index = next_index,
                    .images = size_of_batch(open_batch)};
    if (++next_index == task.images) {
      next_index = 0;
      ++open_batch;
    }
    return task;
  }

  std::shared_ptr<const std::vector<LooseFile>> files;
  BatchStreamOptions options;
  Augmenter augmenter;
  ImageSize size;
  std::size_t bytes_an_image;
  std::uint64_t batches_an_epoch;

  std::mutex mutex;
  std::condition_variable space;  ///< a slot is free, or the end has come
  std::condition_variable full;   ///< a batch is finished, or something failed
  std::array<Slot, kSlots> slots;
  std::uint64_t open_batch = 0;  ///< from which the next image is taken
  std::uint32_t next_index = 0;  ///< that image
  std::uint64_t delivered = 0;   ///< batches that the consumer is done with
  bool in_use = false;           ///< batch number `delivered` is in the consumer's hands
  bool stopping = false;
  std::exception_ptr failure;
  std::atomic<std::uint64_t> bytes_read{0};
  std::vector<std::thread> threads;
};

namespace {

/// One thread's tools.
class Worker {
 public:
  Worker(const std::vector<LooseFile>& files, const Augmenter& augmenter, const BatchStreamOptions& options,
         std::size_t bytes_an_image)
      : files_(files),
        augmenter_(augmenter),
        seed_(options.seed),
        bytes_an_image_(bytes_an_image),
        maker_(augmenter.format(), &decode_other_image, kDefaultMaxPixels,
               bytes_an_image * options.batch_size > kMostCached) {}

  /// Returns how many bytes it has read.
  std::uint64_t make(const Task& task) {
    const LooseFile& file = files_[task.record];
    const std::span<const std::byte> bytes = read_image(file.path, buffer_);
    const RecordMeta meta = describe_image(file, bytes);
    const std::uint64_t key = random_key(seed_, task.epoch, RandomPurpose::augment);
    if (const auto reason = augmenter_.plan(key, task.record, {meta.width, meta.height}, plan_)) {
      throw image_error(file.path, {ImageStatus::unsupported, *reason});
    }
    std::byte* const out = task.slot->images + task.index * bytes_an_image_;
    const ImageResult result = maker_.make(meta, {.payload = bytes, .segments = {}}, plan_, out);
    if (!result.ok()) throw image_error(file.path, result);
    task.slot->labels[task.index] = meta.label;
    task.slot->records[task.index] = task.record;
    return bytes.size();
  }

 private:
  const std::vector<LooseFile>& files_;
  const Augmenter& augmenter_;
  std::uint64_t seed_;
  std::size_t bytes_an_image_;
  SampleMaker maker_;
  SamplePlan plan_;
  ByteBuffer buffer_;
};

/// A thread's life. `State` is LooseLoader::State.
template <class State>
void work(State& state) noexcept {
  std::unique_lock lock(state.mutex);
  try {
    Worker worker(*state.files, state.augmenter, state.options, state.bytes_an_image);
    while (true) {
      state.space.wait(lock, [&] { return state.stopping || state.can_take(); });
      if (state.stopping) return;
      const Task task = state.take();
      const bool more = state.can_take();
      lock.unlock();
      if (more) state.space.notify_one();
      const std::uint64_t bytes = worker.make(task);
      state.bytes_read.fetch_add(bytes, std::memory_order_relaxed);
      lock.lock();
      if (++task.slot->done == task.images) state.full.notify_one();
    }
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    if (!state.failure) state.failure = std::current_exception();
    state.stopping = true;
    state.full.notify_one();
    state.space.notify_all();
  }
}

}  // namespace

LooseLoader::LooseLoader(std::shared_ptr<const std::vector<LooseFile>> files, const BatchStreamOptions& options) {
  if (options.device != "cpu") {
    throw Error(ErrorCode::unsupported, "loose files are loaded into host memory only, not on " + options.device);
  }
  if (options.batch_size == 0 || options.threads == 0) {
    throw Error(ErrorCode::invalid_argument, "batches need images, and threads that make them");
  }
  state_ = std::make_unique<State>(std::move(files), options);
}

LooseLoader::~LooseLoader() {
  stop();
}

void LooseLoader::start() {
  try {
    while (state_->threads.size() < state_->options.threads) {
      state_->threads.emplace_back([state = state_.get()] { work(*state); });
    }
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::io, fmt::format("cannot start a thread: {}", error.what()));
  }
}

void LooseLoader::stop() noexcept {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->space.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

std::optional<std::uint32_t> LooseLoader::next() {
  if (state_->threads.empty()) start();
  std::unique_lock lock(state_->mutex);
  if (state_->in_use) {
    state_->slots[state_->delivered % kSlots].done = 0;
    ++state_->delivered;
    state_->in_use = false;
    state_->space.notify_one();
  }
  if (state_->at_end(state_->delivered)) return std::nullopt;
  const std::uint32_t size = state_->size_of_batch(state_->delivered);
  Slot& slot = state_->slots[state_->delivered % kSlots];
  state_->full.wait(lock, [&] { return state_->failure || slot.done == size; });
  if (state_->failure) std::rethrow_exception(state_->failure);
  state_->in_use = true;
  return size;
}

std::uint64_t LooseLoader::bytes_read() const {
  return state_->bytes_read.load(std::memory_order_relaxed);
}

std::span<const std::byte> LooseLoader::images() const noexcept {
  const std::uint32_t size = state_->size_of_batch(state_->delivered);
  return {state_->slots[state_->delivered % kSlots].images, size * state_->bytes_an_image};
}

std::span<const std::int64_t> LooseLoader::labels() const noexcept {
  return std::span(state_->slots[state_->delivered % kSlots].labels).first(state_->size_of_batch(state_->delivered));
}

std::span<const std::uint64_t> LooseLoader::records() const noexcept {
  return std::span(state_->slots[state_->delivered % kSlots].records).first(state_->size_of_batch(state_->delivered));
}

}  // namespace imgpack::measure
