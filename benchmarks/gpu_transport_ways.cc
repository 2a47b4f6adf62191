#include "benchmarks/gpu_transport_ways.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include "reader/gpu/carver.h"
#include "reader/gpu/cuda_check.h"
#include "reader/gpu/kernels/raw_images.h"

namespace imgpack::benchmark {

namespace {

namespace fs = std::filesystem;
using namespace imgpack::gpu;
using Clock = std::chrono::steady_clock;

void pack(const fs::path& path, std::uint64_t records) {
  auto writer = StoreWriter::create(
      path, {},
      {.overwrite = true, .expected_records = records, .raw_shape = RawShape{.height = kSide, .width = kSide}});
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> pixels(kRecordBytes / 8 + 1024);
  for (std::uint64_t& word : pixels) word = random();
  for (std::uint64_t i = 0; i < records; ++i) {
    const std::string key = std::to_string(i);
    const auto bytes = std::as_bytes(std::span(pixels)).subspan(random() % 8192, kRecordBytes);
    Record record{.key = key,
                  .meta = {.label = 0, .width = kSide, .height = kSide, .channels = 3, .codec = Codec::raw_rgb8},
                  .payload = bytes};
    record.describe();
    writer->append(record);
  }
  writer->finish();
}

/// Threads that stage batches ahead of the thread that sends them off. They take samples in turn, and wait only for a
/// batch whose memory is still in use.
class Stagers {
 public:
  Stagers(const StoreReader& store, StagingRing& ring, std::size_t slots, std::uint32_t batch, Order& order,
          unsigned threads)
      : store_(store), batch_(batch), free_(slots), done_(slots), places_(slots) {
    for (auto& places : places_) places.resize(batch);
    for (std::size_t i = 0; i < slots; ++i) staged_.push_back(std::make_unique<StagedRecords>(ring));
    for (std::uint32_t i = 0; i < kRecords; ++i) records_.push_back(order.next());
    for (unsigned t = 0; t < threads; ++t) threads_.emplace_back([this] { run(); });
  }
  ~Stagers() {
    over_ = true;
    ++free_;
    free_.notify_all();
  }
  Stagers(const Stagers&) = delete;
  Stagers& operator=(const Stagers&) = delete;

  /// Waits for batch number `number`, and sends the rest of it.
  const std::vector<std::span<const std::byte>>& take(std::uint64_t number) {
    const std::size_t slot = number % staged_.size();
    for (std::uint32_t count = done_[slot]; count != batch_; count = done_[slot]) done_[slot].wait(count);
    done_[slot] = 0;
    staged_[slot]->finish();
    return places_[slot];
  }
  /// The memory of the oldest batch that was taken is free again.
  void give_back(std::uint64_t number) {
    staged_[number % staged_.size()]->reset();
    ++free_;
    free_.notify_all();
  }

 private:
  static constexpr std::uint32_t kRecords = 1 << 14;

  void run() {
    for (;;) {
      const std::uint64_t sample = next_++;
      const std::uint64_t number = sample / batch_;
      for (std::uint64_t free = free_; free <= number && !over_; free = free_) free_.wait(free);
      if (over_) return;
      const std::size_t slot = number % staged_.size();
      places_[slot][sample % batch_] = staged_[slot]->put(store_.bytes(records_[sample % kRecords]).payload);
      if (++done_[slot] == batch_) done_[slot].notify_all();
    }
  }

  const StoreReader& store_;
  const std::uint32_t batch_;
  std::vector<std::uint64_t> records_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<std::uint64_t> free_;  ///< batches whose memory may be filled, from the first one on
  std::atomic<bool> over_ = false;
  std::vector<std::atomic<std::uint32_t>> done_;  ///< samples, by slot
  std::vector<std::vector<std::span<const std::byte>>> places_;
  std::vector<std::unique_ptr<StagedRecords>> staged_;
  std::vector<std::jthread> threads_;
};

}  // namespace

Order::Order(std::uint64_t records) : order_(records) {
  for (std::uint64_t i = 0; i < records; ++i) order_[i] = i;
  std::shuffle(order_.begin(), order_.end(), std::mt19937_64(2));
}

TransportWays::TransportWays(const fs::path& folder, double gigabytes)
    : path_(folder / fmt::format("imgpack-gpu-transport-{}.rec", ::getpid())),
      plain_({.dtype = DType::u8, .layout = Layout::nhwc}),
      normalized_({.dtype = DType::f16, .layout = Layout::nchw, .normalize = Normalize::imagenet()}) {
  const auto records = static_cast<std::uint64_t>(gigabytes * 1e9 / static_cast<double>(kRecordBytes));
  pack(path_, std::max<std::uint64_t>(records, 16));
  store_ = open_store(path_);
  order_ = std::make_unique<Order>(store_->size());
  peak_source_ = PinnedBuffer(kRecordBytes * kLargestBatch);
  std::memset(peak_source_.data(), 1, peak_source_.size());
}

TransportWays::~TransportWays() {
  files_ = RegisteredFiles();
  std::error_code ignored;
  fs::remove(path_, ignored);
}

void TransportWays::register_file() {
  // In one window, as the driver's copies must not cross windows.
  files_ = RegisteredFiles::open(store_->mappings(), {.transport = DeviceTransport::zero_copy,
                                                      .limit_bytes = fs::file_size(path_) + (1 << 20),
                                                      .window_bytes = std::uint64_t{1} << 40});
}

void TransportWays::check_bytes() {
  constexpr std::uint32_t kBatch = 64;
  for (const Engine engine : {Engine::kernel, Engine::copy_engine}) {
    if (engine == Engine::copy_engine && !has_batched_copies()) continue;
    Order same = *order_;
    gather(kBatch, engine, 0)(0);
    const Slot& slot = slots_[0];
    std::vector<std::byte> made(kBatch * kRecordBytes);
    check(cudaMemcpy(made.data(), slot.out.data(), made.size(), cudaMemcpyDeviceToHost), "copying a batch back");
    for (std::size_t i = 0; i < kBatch; ++i) {
      if (std::memcmp(made.data() + i * kRecordBytes, store_->bytes(same.next()).payload.data(), kRecordBytes) != 0) {
        throw std::runtime_error("the gathered bytes are not the file's");
      }
    }
  }
}

/// Calls `batch(slot)` until the time is over, waiting for a slot's batch before it is used again.
std::uint64_t TransportWays::loop(double seconds, const std::function<std::uint64_t(Slot&)>& batch) {
  std::uint64_t bytes = 0;
  const auto begin = Clock::now();
  std::size_t number = 0;
  do {
    Slot& slot = slots_[number++ % kSlots];
    slot.done.synchronize();
    bytes += batch(slot);
    slot.done.record(slot.stream.get());
  } while (std::chrono::duration<double>(Clock::now() - begin).count() < seconds);
  for (Slot& slot : slots_) slot.stream.synchronize();
  return bytes;
}

const std::byte* TransportWays::source(std::uint64_t record) const {
  const std::byte* const view = files_.device_view(store_->bytes(record).payload);
  if (view == nullptr) throw std::runtime_error("a record is not registered");
  return view;
}

TransportWays::Way TransportWays::peak() {
  return [this](double seconds) {
    return loop(seconds, [this](Slot& slot) -> std::uint64_t {
      check(cudaMemcpyAsync(slot.out.data(), peak_source_.data(), peak_source_.size(), cudaMemcpyHostToDevice,
                            slot.stream.get()),
            "copying pinned memory");
      return peak_source_.size();
    });
  };
}

TransportWays::Way TransportWays::copies(std::uint32_t batch) {
  return [this, batch](double seconds) {
    return loop(seconds, [this, batch](Slot& slot) {
      for (std::uint32_t i = 0; i < batch; ++i) {
        check(cudaMemcpyAsync(slot.out.data() + i * kRecordBytes, store_->bytes(order_->next()).payload.data(),
                              kRecordBytes, cudaMemcpyHostToDevice, slot.stream.get()),
              "copying a record");
      }
      return batch * kRecordBytes;
    });
  };
}

/// Into the slot's batch, one after the other.
void TransportWays::queue_gather(Slot& slot, const std::vector<std::span<const std::byte>>& records, Engine engine,
                                 int blocks) {
  const cudaStream_t stream = slot.stream.get();
  slot.transfer.clear();
  slot.program.reset();
  for (std::size_t i = 0; i < records.size(); ++i) {
    slot.transfer.add(records[i], slot.out.data() + i * kRecordBytes,
                      engine == Engine::copy_engine ? &files_ : nullptr);
  }
  slot.transfer.queue_copies(stream);
  slot.transfer.write(slot.program);
  slot.program.settle();
  slot.program.upload(stream);
  slot.transfer.queue_gather(slot.program, blocks, stream);
}

TransportWays::Way TransportWays::gather(std::uint32_t batch, Engine engine, int blocks) {
  return [this, batch, engine, blocks](double seconds) {
    return loop(seconds, [&, this](Slot& slot) {
      slot.records.clear();
      for (std::uint32_t i = 0; i < batch; ++i) slot.records.emplace_back(source(order_->next()), kRecordBytes);
      queue_gather(slot, slot.records, engine, blocks);
      return batch * kRecordBytes;
    });
  };
}

/// Returns the bytes of pixels.
std::uint64_t TransportWays::queue_raw(Slot& slot, std::uint32_t batch, bool cropped, Engine engine, int blocks) {
  const std::uint32_t side = cropped ? kCropSide : kSide;
  const BatchValues values = (cropped ? normalized_ : plain_).values();
  const std::size_t image = std::size_t{side} * side * 3 * size_of(values.dtype);
  constexpr std::uint64_t kStride = kSide * 3;
  const std::uint64_t margin = (kSide - side) / 2;
  const std::uint64_t first = margin * kStride + margin * 3;
  const std::uint64_t bytes = (side - 1) * kStride + std::uint64_t{side} * 3;
  slot.tasks.clear();
  Carver copied(slot.copied.data());
  slot.transfer.clear();
  slot.program.reset();
  for (std::uint32_t i = 0; i < batch; ++i) {
    const std::byte* pixels = source(order_->next()) + first;
    if (engine == Engine::copy_engine) {
      std::byte* const place = copied.take_like(pixels, bytes);
      slot.transfer.add({pixels, bytes}, place, &files_);
      pixels = place;
    }
    slot.tasks.push_back({.source = reinterpret_cast<const std::uint8_t*>(pixels),
                          .source_stride = kStride,
                          .crop = {side, side},
                          .canvas = {.size = {side, side}},
                          .flip = cropped && i % 2 == 1,
                          .out = slot.out.data() + i * image});
  }
  const cudaStream_t stream = slot.stream.get();
  slot.transfer.queue_copies(stream);
  const ProgramBuffer::Place tasks = slot.program.append(std::span<const RawTask>(slot.tasks));
  slot.program.settle();
  slot.program.upload(stream);
  launch_raw_images(slot.program.device<RawTask>(tasks), batch, {side, side}, values, stream, blocks);
  return std::uint64_t{batch} * side * side * 3;
}

TransportWays::Way TransportWays::raw(std::uint32_t batch, bool cropped, Engine engine, int blocks) {
  return [this, batch, cropped, engine, blocks](double seconds) {
    return loop(seconds, [&, this](Slot& slot) { return queue_raw(slot, batch, cropped, engine, blocks); });
  };
}

TransportWays::Way TransportWays::pinned(std::uint32_t batch, unsigned threads) {
  return [this, batch, threads](double seconds) {
    Stagers stagers(*store_, ring_, kSlots, batch, *order_, threads);
    const Event sent = Event::create();
    std::uint64_t number = 0;
    return loop(seconds, [&, this](Slot& slot) {
      if (number >= kSlots) stagers.give_back(number - kSlots);  // loop() has waited for it
      const auto& records = stagers.take(number++);
      sent.record(transfers_.get());
      check(cudaStreamWaitEvent(slot.stream.get(), sent.get(), 0), "letting a stream wait");
      queue_gather(slot, records, Engine::kernel, 0);
      return batch * kRecordBytes;
    });
  };
}

}  // namespace imgpack::benchmark
