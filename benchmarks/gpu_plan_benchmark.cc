// What the host does for the CUDA part, by phase, without a GPU: from a record's bytes to the program of its batch, but
// for what brings those bytes to the device (RecordTransfer), which needs one.
//
//   gpu_plan_benchmark FILE [--batch N] [--batches N] [--scratch MiB] [--jobs N]
//
// FILE: a packed dataset; of more than the processor's caches, or records are nearer than they are in training. Samples
// are RandomResizedCrop(224), flipped, normalised float16, in random order, and planned by the loader's own ChunkMaker.
// Times are CPU nanoseconds of one thread per image, the median of all batches behind the first epoch, which brings the
// file's pages into the process.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "benchmarks/contest.h"
#include "imgpack/dataset.h"
#include "imgpack/sampler.h"
#include "reader/gpu/image_plan.h"
#include "reader/gpu/program_buffer.h"
#include "reader/gpu/wave.h"
#include "reader/gpu/wave_images.h"
#include "reader/pipeline/batch_device.h"
#include "reader/pipeline/batch_job.h"
#include "reader/pipeline/batch_memory.h"
#include "reader/pipeline/chunk_maker.h"
#include "reader/pipeline/counters.h"
#include "reader/pipeline/work_plan.h"

namespace {

using namespace imgpack;
using namespace imgpack::gpu;

struct Options {
  std::string file;
  std::uint32_t batch = 1024;
  std::uint32_t batches = 100;
  std::uint64_t scratch_mib = 213;
  std::uint32_t jobs = 4;
};

class Phase {
 public:
  explicit Phase(std::string name) : name_(std::move(name)) {}

  template <class Work>
  void measure(Work work) {
    const double begin = cpu_seconds();
    work();
    seconds_.push_back(cpu_seconds() - begin);
  }
  void forget() { seconds_.clear(); }
  const std::string& name() const { return name_; }
  double median() const {
    std::vector<double> sorted = seconds_;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }

 private:
  std::string name_;
  std::vector<double> seconds_;
};

std::shared_ptr<std::byte> allocate_plain(std::size_t bytes) {
  constexpr std::size_t kAlignment = 256;
  auto memory = std::make_shared<std::vector<std::byte>>(bytes + kAlignment);
  void* begin = memory->data();
  std::size_t room = memory->size();
  std::align(kAlignment, bytes, begin, room);
  return {std::move(memory), static_cast<std::byte*>(begin)};
}

/// What is kept from batch to batch, as CUDA's job has it. Addresses of the device mean nothing.
struct PlanMemory {
  ProgramBuffer program{&allocate_plain};
  ProgramBuffer::Place jpegs;
  std::vector<ImagePlan> images;
  std::vector<Wave> waves;

  JpegTask& jpeg(std::size_t i) const { return program.host<JpegTask>(jpegs)[i]; }
};

/// Plans as CudaJob does, and leaves it at that.
class PlanJob final : public DeviceJob {
 public:
  explicit PlanJob(PlanMemory& memory) : memory_(memory) {}

  Placement add(std::size_t index, const RecordMeta& meta, const RecordBytes& bytes, const SamplePlan& plan,
                const PayloadPlace*) override {
    if (index + 1 < memory_.images.size()) prefetch_image(memory_.images[index + 1], memory_.jpeg(index + 1));
    plan_image(meta, bytes, plan, memory_.images[index], memory_.jpeg(index));
    return {};
  }
  void submit(const BatchLabels&) override {}
  void wait() override {}
  std::optional<std::string> damaged(std::size_t) const override { return std::nullopt; }
  double device_seconds() const override { return 0; }
  void copy_image(std::size_t, std::size_t) override {}
  void clear_image(std::size_t) override {}
  void mix(const Mix&, std::uint32_t, std::optional<std::size_t>) override {}
  void set_labels(const BatchLabels&) override {}

 private:
  PlanMemory& memory_;
};

class NoMemory final : public DeviceMemory {
 public:
  void use_on(void*) override {}
  void release() noexcept override {}
};

class PlanDevice final : public BatchDevice {
 public:
  explicit PlanDevice(std::uint32_t jobs) : jobs_(jobs) {}

  std::unique_ptr<DeviceMemory> allocate(std::uint32_t, std::uint32_t) override { return std::make_unique<NoMemory>(); }
  std::unique_ptr<DeviceJob> begin(DeviceMemory&, std::uint32_t samples) override {
    next_ = (next_ + 1) % jobs_.size();
    PlanMemory& memory = jobs_[next_];
    memory.images.resize(samples);
    memory.program.reset();
    memory.jpegs = memory.program.reserve<JpegTask>(samples);
    return std::make_unique<PlanJob>(memory);
  }
  int number() const noexcept override { return 0; }
  std::string transport_reason() const override { return "plans only"; }
  /// Of the last job.
  PlanMemory& memory() { return jobs_[next_]; }

 private:
  std::vector<PlanMemory> jobs_;
  std::size_t next_ = 0;
};

WorkPlan work_plan(const Dataset& data, const Options& options) {
  LoaderOptions loader;
  loader.batch_size = options.batch;
  loader.device = "cuda:0";
  loader.last_batch = LastBatch::drop;
  loader.transform = {RandomResizedCrop{224}, HorizontalFlip{}, Normalize::imagenet()};
  loader.dtype = DType::f16;
  std::vector<DatasetShare> shares;
  shares.push_back({.dataset = data});
  return {Sampler::create(std::move(shares), {}, loader.seed), loader};
}

/// What is done for a batch, up to the first call of CUDA.
class Planning {
 public:
  Planning(const Dataset& data, const Options& options)
      : options_(options),
        work_(work_plan(data, options)),
        device_(std::make_shared<PlanDevice>(options.jobs)),
        pool_(BatchPool::create({.format = work_.format, .kept = 1, .size = options.batch, .room = options.batch},
                                device_)),
        maker_(work_, counters_) {}

  void run() {
    const std::uint64_t batches = batch_count(work_.sampler.samples(), 0, work_.shape);
    for (std::uint64_t i = 0; i < batches + options_.batches; ++i) {
      if (i == batches) {
        for (Phase* phase : phases()) phase->forget();
      }
      run_batch({.epoch = i / batches, .first = i % batches * options_.batch, .seed = 0, .order = 0});
    }
  }
  void report() {
    double sum = 0;
    for (const Phase* phase : phases()) {
      const double nanoseconds = phase->median() / options_.batch * 1e9;
      fmt::print("{:<34}{:6.0f} ns\n", phase->name(), nanoseconds);
      sum += nanoseconds;
    }
    fmt::print("{:<34}{:6.0f} ns\n", "all", sum);
  }

 private:
  void run_batch(const BatchJob::Place& place) {
    std::optional<BatchJob> job;
    draw_.measure([&] { job.emplace(work_, place, *pool_); });
    make_.measure([&] {
      const std::atomic<bool> cancelled{false};
      for (std::size_t chunk = 0; chunk < job->chunks(); ++chunk) maker_.make(*job, chunk, cancelled);
    });
    PlanMemory& memory = device_->memory();
    std::vector<WaveImages> waves;
    cut_.measure([&] { waves = cut_waves(memory.images, options_.scratch_mib << 20); });
    if (memory.waves.size() < waves.size()) memory.waves.resize(waves.size());
    place_.measure([&] {
      for (std::size_t w = 0; w < waves.size(); ++w) place_wave(memory, waves[w], memory.waves[w]);
    });
    write_.measure([&] {
      for (std::size_t w = 0; w < waves.size(); ++w) memory.waves[w].write(memory.program);
    });
  }
  static void place_wave(PlanMemory& memory, const WaveImages& cut, Wave& wave) {
    wave.reset();
    Carver general;
    Carver coefficients;
    for (std::uint32_t i = cut.first; i < cut.end; ++i) {
      if (!uses_waves(memory.images[i])) continue;
      place_image(memory.images[i], memory.jpeg(i), i, {general, coefficients}, nullptr);
      wave.add(memory.images[i], memory.jpeg(i), i);
    }
  }
  std::vector<Phase*> phases() { return {&draw_, &make_, &cut_, &place_, &write_}; }

  const Options& options_;
  const WorkPlan work_;
  Counters counters_;
  std::shared_ptr<PlanDevice> device_;
  std::shared_ptr<BatchPool> pool_;
  ChunkMaker maker_;
  Phase draw_{"BatchJob"};
  Phase make_{"ChunkMaker::make, plan_image"};
  Phase cut_{"cut_waves"};
  Phase place_{"place_image, Wave::add"};
  Phase write_{"Wave::write"};
};

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("What the host does for the CUDA part, by phase.");
  Options options;
  app.add_option("file", options.file, "packed dataset")->required();
  app.add_option("--batch", options.batch, "images of a batch")->check(CLI::PositiveNumber);
  app.add_option("--batches", options.batches, "batches to measure")->check(CLI::PositiveNumber);
  app.add_option("--scratch", options.scratch_mib, "MiB of scratch memory of a wave")->check(CLI::PositiveNumber);
  app.add_option("--jobs", options.jobs, "batches in flight, each with its memory")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  const Dataset data = Dataset::open(options.file);
  Planning planning(data, options);
  planning.run();
  planning.report();
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
