// Predecoded records from a packed file into GPU memory, by every way, beside what the bus gives.
//
//   gpu_transport_benchmark [--gigabytes G] [--folder DIR] [--seconds S] [--rounds N] [--blocks N...] [--json FILE]
//
// Packs records of 256x256 pixels into DIR (removed again), and then measures in turns: one large copy from pinned
// memory (the peak), pageable copies, copies of single records from the registered mapping, the gathering kernel and
// the kernel that makes batches of raw records (both from the registered mapping), and threads that copy records into
// pinned memory for the gathering kernel. Records come in random order. The best round of each counts. CPU is in
// core-seconds a second, the whole process.
#include <sys/resource.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "imgpack/store.h"
#include "reader/gpu/cuda_check.h"
#include "reader/gpu/cuda_handles.h"
#include "reader/gpu/kernels/gather.h"
#include "reader/gpu/kernels/raw_images.h"
#include "reader/gpu/pinned_arena.h"
#include "reader/gpu/registered_files.h"

namespace {

namespace fs = std::filesystem;
using namespace imgpack;
using namespace imgpack::gpu;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kSide = 256;
constexpr std::size_t kRecordBytes = std::size_t{kSide} * kSide * 3;
constexpr std::uint32_t kCropSide = 224;
constexpr std::size_t kCropBytes = std::size_t{kCropSide} * kCropSide * 3;
constexpr std::uint32_t kLargestBatch = 1024;
constexpr std::size_t kSlots = 2;  ///< batches under way

struct Options {
  double gigabytes = 2;
  fs::path folder = fs::temp_directory_path();
  double seconds = 0.5;
  int rounds = 3;
  std::vector<int> blocks = {0};
  unsigned max_threads = 16;
  std::string json;
};

double cpu_seconds_of_process() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

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

/// Records without end, in random order.
class Order {
 public:
  explicit Order(std::uint64_t records) : order_(records) {
    for (std::uint64_t i = 0; i < records; ++i) order_[i] = i;
    std::shuffle(order_.begin(), order_.end(), std::mt19937_64(2));
  }
  std::uint64_t next() { return order_[at_++ % order_.size()]; }

 private:
  std::vector<std::uint64_t> order_;
  std::uint64_t at_ = 0;
};

/// What several batches under way need, each its own.
struct Slot {
  Stream stream = Stream::create();
  Event done = Event::create();
  DeviceBuffer out{std::max(kRecordBytes, kCropBytes * 2) * kLargestBatch};  // the crops are float16
  PinnedBuffer host_tasks{1 << 20};
  DeviceBuffer device_tasks{1 << 20};
  PinnedArena arena;

  /// Copies to the device, behind what was queued before.
  template <class T>
  const T* upload(const std::vector<T>& items, std::size_t offset) {
    const std::size_t bytes = items.size() * sizeof(T);
    if (offset + bytes > host_tasks.size()) throw std::runtime_error("too many tasks for a slot");
    std::memcpy(host_tasks.data() + offset, items.data(), bytes);
    check(cudaMemcpyAsync(device_tasks.data() + offset, host_tasks.data() + offset, bytes, cudaMemcpyHostToDevice,
                          stream.get()),
          "copying tasks");
    return reinterpret_cast<const T*>(device_tasks.data() + offset);
  }
};

struct Way {
  std::string name;
  std::uint32_t batch = 0;
  unsigned threads = 0;
  int blocks = 0;
  std::function<std::uint64_t(double seconds)> run;  ///< returns bytes that went over the bus
  double best = 0;                                   ///< GB/s
  double cpu = 0;                                    ///< of the best round
};

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options),
        plain_({.dtype = DType::u8, .layout = Layout::nhwc}),
        normalized_({.dtype = DType::f16, .layout = Layout::nchw, .normalize = Normalize::imagenet()}) {
    path_ = options.folder / fmt::format("imgpack-gpu-transport-{}.rec", ::getpid());
    const auto records = static_cast<std::uint64_t>(options.gigabytes * 1e9 / static_cast<double>(kRecordBytes));
    pack(path_, std::max<std::uint64_t>(records, 16));
    store_ = open_store(path_);
    order_.emplace(store_->size());
    peak_source_ = PinnedBuffer(kRecordBytes * kLargestBatch);
    std::memset(peak_source_.data(), 1, peak_source_.size());
  }
  ~Bench() {
    files_ = RegisteredFiles();
    std::error_code ignored;
    fs::remove(path_, ignored);
  }

  void run() {
    std::vector<Way> before = {{.name = "pageable copies of records", .batch = 256, .run = copies(256)}};
    measure(before, 1);  // once the mapping is registered, it is not pageable any more
    // In one window, as the driver's copies must not cross windows.
    files_ = RegisteredFiles::open(store_->mappings(), {.transport = DeviceTransport::zero_copy,
                                                        .limit_bytes = fs::file_size(path_) + (1 << 20),
                                                        .window_bytes = std::uint64_t{1} << 40});
    fmt::print("{}\n", files_.reason());
    check_bytes();
    std::vector<Way> ways = {{.name = "pinned copy (peak)", .batch = kLargestBatch, .run = peak()},
                             {.name = "copies of registered records", .batch = 256, .run = copies(256)}};
    for (const std::uint32_t batch : {256u, 512u, 1024u}) {
      for (const int blocks : options_.blocks) {
        ways.push_back({.name = "zero_copy gather", .batch = batch, .blocks = blocks, .run = gather(batch, blocks)});
        ways.push_back({.name = "zero_copy raw u8 nhwc",
                        .batch = batch,
                        .blocks = blocks,
                        .run = raw(batch, kSide, plain_, blocks)});
        ways.push_back({.name = "zero_copy raw crop 224 flip f16 nchw",
                        .batch = batch,
                        .blocks = blocks,
                        .run = raw(batch, kCropSide, normalized_, blocks)});
      }
    }
    for (unsigned threads = 1; threads <= options_.max_threads; threads *= 2) {
      ways.push_back({.name = "pinned arena", .batch = 256, .threads = threads, .run = pinned(threads)});
    }
    measure(ways, options_.rounds);
    ways.insert(ways.begin() + 1, before.front());
    report(ways);
  }

 private:
  const std::byte* source(std::uint64_t record) const {
    const std::byte* const view = files_.device_view(store_->bytes(record).payload);
    if (view == nullptr) throw std::runtime_error("a record is not registered");
    return view;
  }

  /// Calls `batch(slot)` until the time is over, waiting for a slot's batch before it is used again.
  template <class Batch>
  std::uint64_t loop(double seconds, Batch&& batch) {
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

  std::function<std::uint64_t(double)> peak() {
    return [this](double seconds) {
      return loop(seconds, [this](Slot& slot) -> std::uint64_t {
        check(cudaMemcpyAsync(slot.out.data(), peak_source_.data(), peak_source_.size(), cudaMemcpyHostToDevice,
                              slot.stream.get()),
              "copying pinned memory");
        return peak_source_.size();
      });
    };
  }

  std::function<std::uint64_t(double)> copies(std::uint32_t batch) {
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

  void queue_gather(Slot& slot, const std::vector<GatherRange>& ranges, int blocks) {
    std::vector<GatherPiece> pieces;
    append_pieces(ranges, pieces);
    const GatherRange* const device_ranges = slot.upload(ranges, 0);
    const GatherPiece* const device_pieces = slot.upload(pieces, slot.host_tasks.size() / 4);
    launch_gather(device_ranges, device_pieces, static_cast<std::uint32_t>(pieces.size()), slot.stream.get(), blocks);
  }

  std::function<std::uint64_t(double)> gather(std::uint32_t batch, int blocks) {
    return [this, batch, blocks](double seconds) {
      return loop(seconds, [&, this](Slot& slot) {
        std::vector<GatherRange> ranges;
        for (std::uint32_t i = 0; i < batch; ++i) {
          ranges.push_back({source(order_->next()), slot.out.data() + i * kRecordBytes, kRecordBytes});
        }
        queue_gather(slot, ranges, blocks);
        return batch * kRecordBytes;
      });
    };
  }

  std::function<std::uint64_t(double)> raw(std::uint32_t batch, std::uint32_t side, const DeviceValueTables& tables,
                                           int blocks) {
    return [this, batch, side, values = tables.values(), blocks](double seconds) {
      const std::size_t image = std::size_t{side} * side * 3 * size_of(values.dtype);
      return loop(seconds, [&, this](Slot& slot) {
        std::vector<RawTask> tasks;
        for (std::uint32_t i = 0; i < batch; ++i) {
          const std::uint32_t margin = (kSide - side) / 2;
          tasks.push_back({.source = reinterpret_cast<const std::uint8_t*>(source(order_->next())),
                           .source_stride = kSide * 3,
                           .crop = {margin, margin, side, side},
                           .canvas = {.size = {side, side}},
                           .flip = side != kSide && i % 2 == 1,
                           .out = slot.out.data() + i * image});
        }
        launch_raw_images(slot.upload(tasks, 0), batch, {side, side}, values, slot.stream.get(), blocks);
        return std::uint64_t{batch} * side * side * 3;
      });
    };
  }

  /// `threads` copy the records of a batch into pinned memory while the device gathers those of the batch before.
  std::function<std::uint64_t(double)> pinned(unsigned threads) {
    return [this, threads](double seconds) {
      constexpr std::uint32_t kBatch = 256;
      std::vector<std::uint64_t> records(kBatch);
      std::vector<GatherRange> ranges(kBatch);
      Slot* slot = nullptr;
      bool over = false;
      std::barrier step(threads + 1);
      std::vector<std::jthread> workers;
      for (unsigned t = 0; t < threads; ++t) {
        workers.emplace_back([&, t] {
          for (;;) {
            step.arrive_and_wait();
            if (over) return;
            for (std::uint32_t i = t; i < kBatch; i += threads) {
              const std::span<const std::byte> payload = store_->bytes(records[i]).payload;
              std::byte* const place = slot->arena.take(payload.size());
              std::memcpy(place, payload.data(), payload.size());
              ranges[i] = {place, slot->out.data() + i * kRecordBytes, payload.size()};
            }
            step.arrive_and_wait();
          }
        });
      }
      // Between batches, and if one throws, all workers wait at the first barrier.
      const auto end = [&](void*) {
        over = true;
        step.arrive_and_wait();
      };
      const std::unique_ptr<void, decltype(end)> guard(&over, end);
      return loop(seconds, [&, this](Slot& free) {
        slot = &free;
        slot->arena.reset();
        for (std::uint64_t& record : records) record = order_->next();
        step.arrive_and_wait();
        step.arrive_and_wait();
        queue_gather(free, ranges, 0);
        return kBatch * kRecordBytes;
      });
    };
  }

  void measure(std::vector<Way>& ways, int rounds) {
    for (Way& way : ways) way.run(0.05);
    for (int round = 0; round < rounds; ++round) {
      for (Way& way : ways) {
        const double cpu = cpu_seconds_of_process();
        const auto begin = Clock::now();
        const std::uint64_t bytes = way.run(options_.seconds);
        const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        const double rate = static_cast<double>(bytes) / seconds * 1e-9;
        if (rate <= way.best) continue;
        way.best = rate;
        way.cpu = (cpu_seconds_of_process() - cpu) / seconds;
      }
    }
  }

  /// A fast copy of the wrong bytes would be no result.
  void check_bytes() {
    Order same = *order_;
    gather(256, 0)(0);
    std::vector<std::byte> made(256 * kRecordBytes);
    check(cudaMemcpy(made.data(), slots_[0].out.data(), made.size(), cudaMemcpyDeviceToHost), "copying a batch back");
    for (std::size_t i = 0; i < 256; ++i) {
      if (std::memcmp(made.data() + i * kRecordBytes, store_->bytes(same.next()).payload.data(), kRecordBytes) != 0) {
        throw std::runtime_error("the gathered bytes are not the file's");
      }
    }
  }

  void report(const std::vector<Way>& ways) const {
    cudaDeviceProp device{};
    check(cudaGetDeviceProperties(&device, 0), "asking for the device");
    const double peak = ways.front().best;
    nlohmann::json results = nlohmann::json::array();
    fmt::print("{:<38} {:>5} {:>7} {:>6} {:>7} {:>8} {:>9} {:>9}\n", "way", "batch", "threads", "blocks", "GB/s",
               "of peak", "images/s", "CPU cores");
    for (const Way& way : ways) {
      const std::size_t image = way.name.find("224") == std::string::npos ? kRecordBytes : kCropBytes;
      const double images = way.best * 1e9 / static_cast<double>(image);
      fmt::print("{:<38} {:>5} {:>7} {:>6} {:>7.1f} {:>7.1f}% {:>9.0f} {:>9.2f}\n", way.name, way.batch, way.threads,
                 way.blocks, way.best, 100 * way.best / peak, images, way.cpu);
      results.push_back({{"way", way.name},
                         {"batch", way.batch},
                         {"threads", way.threads},
                         {"blocks", way.blocks},
                         {"gb_per_s", way.best},
                         {"of_peak", way.best / peak},
                         {"images_per_s", images},
                         {"cpu_cores", way.cpu}});
    }
    if (options_.json.empty()) return;
    const nlohmann::json all = {{"benchmark", "gpu_transport"}, {"device", device.name},
                                {"records", store_->size()},    {"record_bytes", kRecordBytes},
                                {"transport", files_.reason()}, {"results", results}};
    std::ofstream file(options_.json);
    file << all.dump(1) << '\n';
    if (!file.flush()) throw std::runtime_error("cannot write " + options_.json);
  }

  const Options options_;
  fs::path path_;
  DeviceValueTables plain_;
  DeviceValueTables normalized_;
  std::unique_ptr<StoreReader> store_;
  std::optional<Order> order_;
  RegisteredFiles files_;  // before the store ends
  PinnedBuffer peak_source_;
  std::array<Slot, kSlots> slots_;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Predecoded records from a packed file into GPU memory, by every way"};
  app.add_option("--gigabytes", options.gigabytes, "Size of the file")->check(CLI::PositiveNumber);
  app.add_option("--folder", options.folder, "Where the file is made")->check(CLI::ExistingDirectory);
  app.add_option("--seconds", options.seconds, "Of each measurement")->check(CLI::PositiveNumber);
  app.add_option("--rounds", options.rounds, "Measurements of each way")->check(CLI::PositiveNumber);
  app.add_option("--blocks", options.blocks, "Sizes of the kernels' grids to try; 0: as the library does");
  app.add_option("--max-threads", options.max_threads, "Most threads that copy")->check(CLI::PositiveNumber);
  app.add_option("--json", options.json, "Where to write the results");
  CLI11_PARSE(app, argc, argv);
  try {
    Bench(options).run();
  } catch (const std::exception& error) {
    std::cerr << "gpu_transport_benchmark: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
