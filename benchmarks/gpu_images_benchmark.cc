// How fast the CUDA part makes batches, without the loader around it: bytes in host memory to finished batches on the
// device.
//
//   gpu_images_benchmark FILE [--batch N] [--batches N] [--scratch MiB] [--jobs N] [--center] [--json FILE]
//
// FILE: a packed dataset. Samples are RandomResizedCrop(224), flipped, normalised float16 (or Resize(256) and
// CenterCrop(224)), in random order. One host thread plans; its CPU time is told.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "imgpack/dataset.h"
#include "imgpack/error.h"
#include "reader/augment/augmenter.h"
#include "reader/gpu/cuda_device.h"
#include "reader/prefetch.h"

namespace {

using namespace imgpack;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kGroup = 8;  ///< samples that are prepared together, as ChunkMaker does it

struct Options {
  std::string file;
  std::uint32_t batch = 256;
  std::uint32_t batches = 100;
  std::uint64_t scratch_mib = 0;
  std::size_t jobs = 4;
  std::uint32_t lanes = 0;
  int gather_blocks = 0;
  bool center = false;
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

/// CPU time of the calling thread.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Where it goes, in seconds.
struct HostTime {
  double plan = 0;
  double submit = 0;
  double wait = 0;
};

struct Prepared {
  RecordMeta meta;
  RecordBytes bytes;
  SamplePlan plan;
};

struct InFlight {
  std::unique_ptr<DeviceMemory> memory;
  std::unique_ptr<DeviceJob> job;
};

struct Result {
  double rate = 0;
  double cores = 0;
  double device_bytes = 0;
  std::uint64_t host_images = 0;
  std::uint64_t damaged = 0;
  HostTime host;
};

std::uint64_t free_device_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  cudaMemGetInfo(&free, &total);
  return free;
}

class Benchmark {
 public:
  Benchmark(const Dataset& data, const Options& options)
      : data_(data),
        options_(options),
        augmenter_(options.center
                       ? std::vector<Augmentation>{Resize{.shorter = 256}, CenterCrop{224}, Normalize::imagenet()}
                       : std::vector<Augmentation>{RandomResizedCrop{224}, HorizontalFlip{}, Normalize::imagenet()},
                   DType::f16, Layout::nchw) {
    CudaDeviceOptions device;
    device.format = augmenter_.format();
    device.batch = {.image = 224, .dtype = DType::f16, .layout = Layout::nchw, .soft_classes = 0};
    device.scratch_bytes = options.scratch_mib << 20;
    device.batch_size = options.batch;
    device.lanes = options.lanes;
    device.gather_blocks = options.gather_blocks;
    device.stores = {&data.store()};
    cudaFree(nullptr);
    free_before_ = free_device_bytes();
    device_ = open_cuda_device(device);
    labels_.assign(options.batch, 0);
    mask_.assign(options.batch, 1);
    records_.resize(options.batch);
  }

  Result run() {
    pass(20);
    const double cpu = cpu_seconds();
    const auto begin = Clock::now();
    result_ = {};
    pass(options_.batches);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    result_.rate = static_cast<double>(options_.batch) * options_.batches / seconds;
    result_.cores = (cpu_seconds() - cpu) / seconds;
    return result_;
  }
  std::string reason() const { return device_->transport_reason(); }

 private:
  void pass(std::uint32_t batches) {
    std::deque<InFlight> flying;
    std::vector<std::unique_ptr<DeviceMemory>> spare;
    for (std::uint32_t i = 0; i < batches; ++i) {
      if (flying.size() == options_.jobs) spare.push_back(finish(flying));
      flying.push_back(begin_batch(spare));
    }
    result_.device_bytes = static_cast<double>(free_before_ - free_device_bytes());
    while (!flying.empty()) finish(flying);
  }
  InFlight begin_batch(std::vector<std::unique_ptr<DeviceMemory>>& spare) {
    InFlight made;
    if (spare.empty()) spare.push_back(device_->allocate(options_.batch, options_.batch));
    made.memory = std::move(spare.back());
    spare.pop_back();
    const double begun = thread_seconds();
    made.job = device_->begin(*made.memory, options_.batch);
    const StoreReader& store = data_.store();
    for (std::uint64_t& record : records_) record = random_() % store.size();
    for (std::uint32_t i = 0; i < options_.batch; i += kGroup) {
      add_group(*made.job, i, std::min(i + kGroup, options_.batch));
    }
    const double planned = thread_seconds();
    made.job->submit({.labels = labels_, .mask = mask_, .soft_labels = {}});
    result_.host.plan += planned - begun;
    result_.host.submit += thread_seconds() - planned;
    return made;
  }
  void add_group(DeviceJob& job, std::uint32_t begin, std::uint32_t end) {
    const StoreReader& store = data_.store();
    for (std::uint32_t i = end; i < std::min(end + kGroup, options_.batch); ++i) store.prefetch_entry(records_[i]);
    for (std::uint32_t i = begin; i < end; ++i) {
      prepared_[i - begin].meta = store.meta(records_[i]);
      prepared_[i - begin].bytes = store.bytes(records_[i]);
    }
    for (std::uint32_t i = begin; i < end; ++i) prefetch_record(prepared_[i - begin].bytes);
    for (std::uint32_t i = begin; i < end; ++i) {
      auto& [meta, bytes, plan] = prepared_[i - begin];
      const auto reason = augmenter_.plan(random_(), records_[i], {meta.width, meta.height}, plan);
      if (reason) throw Error(ErrorCode::unsupported, *reason);
      prefetch_tables(bytes);
      prefetch_entries(bytes, plan.stages.front().crop, meta.height);
    }
    for (std::uint32_t i = begin; i < end; ++i) {
      const auto& [meta, bytes, plan] = prepared_[i - begin];
      result_.host_images += job.add(i, meta, bytes, plan).host_image != nullptr ? 1 : 0;
    }
  }
  std::unique_ptr<DeviceMemory> finish(std::deque<InFlight>& flying) {
    InFlight done = std::move(flying.front());
    flying.pop_front();
    const double begun = thread_seconds();
    done.job->wait();
    result_.host.wait += thread_seconds() - begun;
    for (std::uint32_t i = 0; i < options_.batch; ++i) result_.damaged += done.job->damaged(i) ? 1 : 0;
    return std::move(done.memory);
  }

  const Dataset& data_;
  const Options& options_;
  Augmenter augmenter_;
  std::uint64_t free_before_ = 0;
  std::unique_ptr<BatchDevice> device_;
  std::mt19937_64 random_{1};
  std::vector<std::uint64_t> records_;
  std::array<Prepared, kGroup> prepared_;
  std::vector<std::int64_t> labels_;
  std::vector<std::uint8_t> mask_;
  Result result_;
};

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("How fast the CUDA part makes batches.");
  Options options;
  app.add_option("file", options.file, "packed dataset")->required();
  app.add_option("--batch", options.batch, "images of a batch");
  app.add_option("--batches", options.batches, "batches to measure");
  app.add_option("--scratch", options.scratch_mib, "MiB of scratch memory on the device; 0: the default");
  app.add_option("--jobs", options.jobs, "batches in flight");
  app.add_option("--lanes", options.lanes, "parts of batches made at the same time; 0: the default");
  app.add_option("--gather-blocks", options.gather_blocks, "of threads that bring bytes to the device; 0: the default");
  app.add_flag("--center", options.center, "Resize(256) and CenterCrop(224)");
  app.add_option("--json", options.json, "file for the figures");
  CLI11_PARSE(app, argc, argv);
  const Dataset data = Dataset::open(options.file);
  Benchmark benchmark(data, options);
  const Result result = benchmark.run();
  const auto per_image = [&](double seconds) { return seconds * 1e9 / options.batch / options.batches; };
  fmt::print("batch {} {}: {:.0f} images/s, {:.2f} CPU cores, {:.0f} MB of device memory, {} by the host, {} damaged\n",
             options.batch, options.center ? "center" : "random", result.rate, result.cores, result.device_bytes / 1e6,
             result.host_images, result.damaged);
  fmt::print("  host CPU time an image: plan {:.0f} ns, submit {:.0f} ns, wait {:.0f} ns\n  {}\n",
             per_image(result.host.plan), per_image(result.host.submit), per_image(result.host.wait),
             benchmark.reason());
  if (!options.json.empty()) {
    std::ofstream(options.json) << fmt::format(
        "{{\"batch\": {}, \"center\": {}, \"images_per_second\": {:.0f}, \"cpu_cores\": {:.3f}, \"device_bytes\": "
        "{:.0f}}}\n",
        options.batch, options.center, result.rate, result.cores, result.device_bytes);
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
