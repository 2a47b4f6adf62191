// How fast a loader delivers batches on CUDA devices: from a packed file in the page cache to finished batches,
// sampling, augmentation and labels included.
//
//   gpu_loader_benchmark FILE [--batch N] [--seconds S] [--transform random|center|raw] [--rate R] [--devices N]
//                        [--json FILE]
//
// random: RandomResizedCrop(224), flip, normalised float16. center: Resize(256), CenterCrop(224), the same. raw: uint8
// records as they are, which must be of one size. With several devices each has a loader, and a thread that takes its
// batches: all it can get, or with --rate as training does, at a speed of its own, while the loader works ahead.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "imgpack/loader.h"

namespace {

using namespace imgpack;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string file;
  std::uint32_t batch = 256;
  double seconds = 2;
  double rate = 0;
  std::string transform = "random";
  unsigned devices = 1;
  unsigned threads = 0;
  std::uint32_t prefetch = 0;
  std::uint64_t device_memory = 0;
  std::string transport = "auto";
  std::string json;
};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double device_bytes_used() {
  std::size_t free = 0;
  std::size_t total = 0;
  cudaMemGetInfo(&free, &total);
  return static_cast<double>(total - free);
}

LoaderOptions loader_options(const Options& options, unsigned device) {
  const std::map<std::string, std::vector<Augmentation>> transforms = {
      {"random", {RandomResizedCrop{224}, HorizontalFlip{}, Normalize::imagenet()}},
      {"center", {Resize{.shorter = 256}, CenterCrop{224}, Normalize::imagenet()}},
      {"raw", {}},
  };
  const bool raw = options.transform == "raw";
  LoaderOptions loader{.batch_size = options.batch,
                       .device = fmt::format("cuda:{}", device),
                       .seed = device,
                       .transform = transforms.at(options.transform),
                       .dtype = raw ? DType::u8 : DType::f16,
                       .layout = raw ? Layout::nhwc : Layout::nchw,
                       .last_batch = LastBatch::drop,
                       .threads = options.threads,
                       .prefetch_batches = options.prefetch};
  loader.device_memory = options.device_memory << 20;
  loader.transport = transport_from_name(options.transport).value();
  return loader;
}

/// Takes batches until the time is over; the first ones, which warm up, do not count.
class Consumer {
 public:
  Consumer(const Dataset& data, const Options& options, unsigned device)
      : loader_(data, loader_options(options, device)), rate_(options.rate) {}

  void run(const std::atomic<bool>& counts, const std::atomic<bool>& stop) noexcept {
    try {
      while (!stop) {
        for (Batch& batch : loader_.epoch()) {
          if (counts) samples_ += batch.size();
          if (stop) return;
          use(batch);
        }
      }
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  /// After run(): throws what it has caught.
  void check() const {
    if (failure_) std::rethrow_exception(failure_);
  }
  std::uint64_t samples() const { return samples_; }
  LoaderStats stats() const { return loader_.stats(); }

 private:
  /// As long as it takes at that rate. Sleeps end late: that is made up for, but no time that the loader has lost.
  void use(const Batch& batch) {
    if (rate_ == 0) return;
    constexpr std::chrono::milliseconds kLatest(10);
    const std::chrono::duration<double> time(batch.size() / rate_);
    used_until_ = std::max(used_until_, Clock::now() - kLatest) + std::chrono::duration_cast<Clock::duration>(time);
    std::this_thread::sleep_until(used_until_);
  }

  Loader loader_;
  const double rate_;  ///< images a second; 0: no limit
  Clock::time_point used_until_;
  std::atomic<std::uint64_t> samples_{0};
  std::exception_ptr failure_;
};

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("How fast a loader delivers batches on CUDA devices.");
  Options options;
  app.add_option("file", options.file, "packed dataset")->required();
  app.add_option("--batch", options.batch, "images of a batch");
  app.add_option("--seconds", options.seconds, "to measure");
  app.add_option("--transform", options.transform, "random, center or raw");
  app.add_option("--rate", options.rate, "images a second that each device's consumer takes; 0: all that it gets")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--devices", options.devices, "CUDA devices");
  app.add_option("--threads", options.threads, "of each loader; 0: its choice");
  app.add_option("--prefetch", options.prefetch, "batches made ahead; 0: the loader's choice");
  app.add_option("--device-memory", options.device_memory, "MiB of scratch memory; 0: the loader's choice");
  app.add_option("--transport", options.transport, "auto, zero_copy, pinned or gds");
  app.add_option("--json", options.json, "file for the figures");
  CLI11_PARSE(app, argc, argv);

  const Dataset data = Dataset::open(options.file);
  cudaFree(nullptr);
  const double used_before = device_bytes_used();
  std::vector<std::unique_ptr<Consumer>> consumers;
  for (unsigned d = 0; d < options.devices; ++d) consumers.push_back(std::make_unique<Consumer>(data, options, d));
  std::atomic<bool> counts{false};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (const auto& consumer : consumers) threads.emplace_back([&] { consumer->run(counts, stop); });
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  const double cpu = cpu_seconds();
  const auto begin = Clock::now();
  counts = true;
  std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
  counts = false;
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const double cores = (cpu_seconds() - cpu) / seconds;
  stop = true;
  for (std::thread& thread : threads) thread.join();
  for (const auto& consumer : consumers) consumer->check();

  std::uint64_t samples = 0;
  for (const auto& consumer : consumers) samples += consumer->samples();
  const LoaderStats stats = consumers.front()->stats();
  const double rate = static_cast<double>(samples) / seconds;
  const double device_mb = (device_bytes_used() - used_before) / 1e6;
  fmt::print(
      "{} batch {} devices {}: {:.0f} images/s, {:.2f} CPU cores, {:.0f} MB of device memory, {} threads, "
      "{:.2f} batches ready\n  {}\n",
      options.transform, options.batch, options.devices, rate, cores, device_mb, stats.threads, stats.ready_batches,
      stats.transport);
  if (!options.json.empty()) {
    std::ofstream(options.json) << fmt::format(
        "{{\"transform\": \"{}\", \"batch\": {}, \"devices\": {}, \"rate\": {:.0f}, \"images_per_second\": {:.0f}, "
        "\"cpu_cores\": {:.3f}, \"device_mb\": {:.0f}, \"transport\": \"{}\"}}\n",
        options.transform, options.batch, options.devices, options.rate, rate, cores, device_mb, stats.transport);
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
