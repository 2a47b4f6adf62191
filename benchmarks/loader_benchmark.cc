// How fast loaders deliver batches.
//
//   loader_benchmark jpeg FILE    JPEG records: RandomResizedCrop(224), flipped, normalised float32 batches of 128
//   loader_benchmark raw FILE     raw records of 224x224 or more: crop, flip, uint8, beside memcpy of as many bytes
//   loader_benchmark tiny FILE    the loader's own work for each record, on 4x4 images; makes FILE if need be
//   loader_benchmark start FILE   from opening to the first batch
//   loader_benchmark cold FILE    an epoch of a file that is not in the page cache, by ways of reading
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "imgpack/loader.h"
#include "imgpack/store.h"
#include "mmap/page_cache.h"

namespace {

using namespace imgpack;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Samples a second over `epochs` epochs, after one to warm up.
double rate(Loader& loader, int epochs) {
  for (Batch& batch : loader.epoch()) (void)batch;
  std::uint64_t samples = 0;
  const auto begin = Clock::now();
  for (int i = 0; i < epochs; ++i) {
    for (Batch& batch : loader.epoch()) samples += batch.size();
  }
  return static_cast<double>(samples) / seconds_since(begin);
}

/// 1, 2, 4, ... and all CPUs.
std::vector<unsigned> thread_counts() {
  const unsigned cpus = std::max(std::thread::hardware_concurrency(), 1u);
  std::vector<unsigned> counts;
  for (unsigned count = 1; count < cpus; count *= 2) counts.push_back(count);
  counts.push_back(cpus);
  return counts;
}

void jpeg(const Dataset& data) {
  std::vector<unsigned> counts = thread_counts();
  counts.push_back(0);
  for (const unsigned threads : counts) {
    Loader loader(data, {.batch_size = 128,
                         .transform = {RandomResizedCrop{224}, HorizontalFlip{}, Normalize::imagenet()},
                         .threads = threads});
    const double images = rate(loader, 5);
    fmt::print("jpeg threads={} {:.0f} images/s\n", threads == 0 ? "auto" : std::to_string(threads), images);
  }
}

/// The bound: the same threads copy as many bytes from the mapped payloads to batches in turn.
double memcpy_rate(const Dataset& data, unsigned threads, std::size_t bytes, int epochs) {
  constexpr std::size_t kBatch = 128;
  constexpr std::size_t kBatches = 4;
  std::vector<std::byte> memory(kBatch * kBatches * bytes);
  const std::uint64_t all = data.size() * static_cast<std::uint64_t>(epochs);
  std::atomic<std::uint64_t> next{0};
  const auto work = [&] {
    for (std::uint64_t i = next++; i < all; i = next++) {
      const std::span<const std::byte> payload = data.store().bytes(i % data.size()).payload;
      std::memcpy(memory.data() + i % (kBatch * kBatches) * bytes, payload.data(), std::min(bytes, payload.size()));
    }
  };
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> helpers;
    for (unsigned i = 0; i < threads; ++i) helpers.emplace_back(work);
  }
  return static_cast<double>(all) / seconds_since(begin);
}

void raw(const Dataset& data) {
  const std::size_t bytes = std::size_t{224} * 224 * 3;
  const int epochs = 20;
  for (const unsigned threads : thread_counts()) {
    double best_copy = 0, best_nhwc = 0, best_nchw = 0;
    for (int round = 0; round < 5; ++round) {
      best_copy = std::max(best_copy, memcpy_rate(data, threads, bytes, epochs));
      const auto measure = [&](Layout layout) {
        Loader loader(data, {.batch_size = 128,
                             .transform = {RandomCrop{224}, HorizontalFlip{}},
                             .dtype = DType::u8,
                             .layout = layout,
                             .threads = threads});
        return rate(loader, epochs);
      };
      best_nhwc = std::max(best_nhwc, measure(Layout::nhwc));
      best_nchw = std::max(best_nchw, measure(Layout::nchw));
    }
    fmt::print("raw threads={} memcpy {:.0f} images/s, nhwc {:.0f} ({:.2f} of memcpy), nchw {:.0f} ({:.2f})\n", threads,
               best_copy, best_nhwc, best_nhwc / best_copy, best_nchw, best_nchw / best_copy);
  }
}

void tiny(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) {
    auto writer = StoreWriter::create(path, {}, {.expected_records = 1'280'000});
    std::vector<std::byte> pixels(48);
    for (std::uint32_t i = 0; i < 1'280'000; ++i) {
      std::memcpy(pixels.data(), &i, sizeof i);
      const std::string key = std::to_string(i);
      Record record{.key = key,
                    .meta = {.label = i % 1000, .width = 4, .height = 4, .channels = 3, .codec = Codec::raw_rgb8},
                    .payload = pixels};
      record.describe();
      writer->append(record);
    }
    writer->finish();
  }
  const Dataset data = Dataset::open(path);
  for (const Shuffle shuffle : {Shuffle::none, Shuffle::full}) {
    for (const unsigned threads : thread_counts()) {
      Loader loader(data,
                    {.batch_size = 256, .dtype = DType::u8, .sampling = {.shuffle = shuffle}, .threads = threads});
      fmt::print("tiny shuffle={} threads={} {:.0f} records/s\n", to_string(shuffle), threads, rate(loader, 2));
    }
  }
}

void start(const std::filesystem::path& path) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto begin = Clock::now();
    const Dataset data = Dataset::open(path);
    Loader loader(data, {.batch_size = 128, .dtype = DType::u8});
    Epoch epoch = loader.epoch();
    if (!epoch.next()) throw std::runtime_error("the dataset is empty");
    best = std::min(best, seconds_since(begin));
  }
  fmt::print("start: {:.1f} ms to the first batch of {} records\n", best * 1e3, Dataset::open(path).size());
}

void cold(const std::filesystem::path& path) {
  const auto epoch = [&](ReadMode mode, Shuffle shuffle) {
    evict_from_page_cache(path);
    const Residency residency = page_cache_residency(path);
    if (residency.resident_bytes * 20 > residency.total_bytes)
      throw std::runtime_error("the page cache keeps the file");
    const Dataset data = Dataset::open(path);
    Loader loader(data, {.batch_size = 64,
                         .transform = {RandomResizedCrop{224}, HorizontalFlip{}},
                         .dtype = DType::u8,
                         .sampling = {.shuffle = shuffle, .window_blocks = 16},
                         .read = mode});
    const auto begin = Clock::now();
    for (Batch& batch : loader.epoch()) (void)batch;
    return static_cast<double>(data.size()) / seconds_since(begin);
  };
  for (const Shuffle shuffle : {Shuffle::full, Shuffle::block}) {
    double mapped = 0, automatic = 0, unbuffered = 0;
    for (int round = 0; round < 3; ++round) {
      mapped = std::max(mapped, epoch(ReadMode::mapped, shuffle));
      automatic = std::max(automatic, epoch(ReadMode::automatic, shuffle));
      unbuffered = std::max(unbuffered, epoch(ReadMode::unbuffered, shuffle));
    }
    fmt::print("cold shuffle={}: by page faults {:.0f} images/s, auto {:.0f} ({:.2f}), unbuffered {:.0f} ({:.2f})\n",
               to_string(shuffle), mapped, automatic, automatic / mapped, unbuffered, unbuffered / mapped);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string what = argc > 1 ? argv[1] : "";
    const std::string file = argc > 2 ? argv[2] : "";
    if (what == "jpeg" && !file.empty()) {
      jpeg(Dataset::open(file));
    } else if (what == "raw" && !file.empty()) {
      raw(Dataset::open(file));
    } else if (what == "tiny" && !file.empty()) {
      tiny(file);
    } else if (what == "start" && !file.empty()) {
      start(file);
    } else if (what == "cold" && !file.empty()) {
      cold(file);
    } else {
      std::cerr << "usage: loader_benchmark jpeg|raw|tiny|start|cold FILE (tiny makes FILE if it is not there)\n";
      return 2;
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "loader_benchmark: " << error.what() << '\n';
    return 1;
  }
}
