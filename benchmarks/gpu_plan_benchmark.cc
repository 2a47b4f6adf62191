// What the host does for the CUDA part, by phase, without a GPU: from a record's bytes to the program of its batch.
//
//   gpu_plan_benchmark FILE [--batch N] [--batches N] [--scratch MiB] [--jobs N]
//
// FILE: a packed dataset; of more than the processor's caches, or records are nearer than they are in training. Samples
// are RandomResizedCrop(224), flipped, normalised float16, in random order. Times are CPU nanoseconds of one thread per
// image, the median of all batches.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "benchmarks/contest.h"
#include "imgpack/dataset.h"
#include "imgpack/error.h"
#include "reader/augment/augmenter.h"
#include "reader/gpu/image_plan.h"
#include "reader/gpu/program_buffer.h"
#include "reader/gpu/wave.h"
#include "reader/gpu/wave_images.h"
#include "reader/prefetch.h"

namespace {

using namespace imgpack;
using namespace imgpack::gpu;

constexpr std::uint32_t kAhead = 2;  ///< as ChunkMaker looks ahead

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

/// What CudaJob does for a batch, up to the first call of CUDA. Addresses of the device mean nothing.
class Planning {
 public:
  Planning(const Dataset& data, const Options& options)
      : store_(data.store()),
        options_(options),
        augmenter_({RandomResizedCrop{224}, HorizontalFlip{}, Normalize::imagenet()}, DType::f16, Layout::nchw),
        samples_(options.batch) {
    for (std::uint32_t i = 0; i < options.jobs; ++i) jobs_.emplace_back().images.resize(options.batch);
  }

  void run_batch() {
    Job& job = jobs_[next_++ % jobs_.size()];
    job.program.reset();
    job.jpegs = job.program.reserve<JpegTask>(options_.batch);
    fetch_.measure([this] { fetch(); });
    augment_.measure([this] { augment(); });
    plan_.measure([&] { plan(job); });
    std::vector<WaveImages> waves;
    cut_.measure([&] { waves = cut_waves(job.images, options_.scratch_mib << 20); });
    if (job.waves.size() < waves.size()) job.waves.resize(waves.size());
    place_.measure([&] {
      for (std::size_t w = 0; w < waves.size(); ++w) place(job, waves[w], job.waves[w]);
    });
    write_.measure([&] {
      for (std::size_t w = 0; w < waves.size(); ++w) job.waves[w].write(job.program);
    });
  }
  void report() const {
    double sum = 0;
    for (const Phase* phase : {&fetch_, &augment_, &plan_, &cut_, &place_, &write_}) {
      const double nanoseconds = phase->median() / options_.batch * 1e9;
      fmt::print("{:<34}{:6.0f} ns\n", phase->name(), nanoseconds);
      sum += nanoseconds;
    }
    fmt::print("{:<34}{:6.0f} ns\n", "all", sum);
  }

 private:
  struct Sample {
    std::uint64_t record = 0;
    RecordMeta meta;
    RecordBytes bytes;
    SamplePlan plan;
  };

  struct Job {
    ProgramBuffer program{&allocate_plain};
    ProgramBuffer::Place jpegs;
    std::vector<ImagePlan> images;
    std::vector<Wave> waves;

    JpegTask& jpeg(std::uint32_t i) const { return program.host<JpegTask>(jpegs)[i]; }
  };

  void fetch() {
    for (Sample& sample : samples_) {
      sample.record = random_() % store_.size();
      sample.meta = store_.meta(sample.record);
      sample.bytes = store_.bytes(sample.record);
    }
  }
  void augment() {
    for (Sample& sample : samples_) {
      const Size size = {sample.meta.width, sample.meta.height};
      const auto reason = augmenter_.plan(random_(), sample.record, size, sample.plan);
      if (reason) throw Error(ErrorCode::unsupported, *reason);
    }
  }
  void plan(Job& job) {
    for (std::uint32_t i = 0; i < options_.batch; ++i) {
      const Sample& sample = samples_[i];
      if (i + kAhead < options_.batch) prefetch_record(samples_[i + kAhead].bytes);
      if (i + 1 < options_.batch) prefetch_image(job.images[i + 1], job.jpeg(i + 1));
      plan_image(sample.meta, sample.bytes, sample.plan, job.images[i], job.jpeg(i));
    }
  }
  void place(Job& job, const WaveImages& cut, Wave& wave) {
    wave.reset();
    Carver general;
    Carver coefficients;
    for (std::uint32_t i = cut.first; i < cut.end; ++i) {
      if (!uses_waves(job.images[i])) continue;
      const ImagePlaces places = place_image(job.images[i], job.jpeg(i), i, {general, coefficients}, nullptr);
      wave.add(job.images[i], job.jpeg(i), i, places, nullptr);
    }
  }

  const StoreReader& store_;
  const Options& options_;
  Augmenter augmenter_;
  std::mt19937_64 random_{1};
  std::vector<Sample> samples_;
  std::vector<Job> jobs_;
  std::size_t next_ = 0;
  Phase fetch_{"finding records"};
  Phase augment_{"Augmenter::plan"};
  Phase plan_{"plan_image"};
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
  for (std::uint32_t i = 0; i < options.batches; ++i) planning.run_batch();
  planning.report();
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
