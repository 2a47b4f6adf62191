// Predecoded records from a packed file into GPU memory, by every way, beside what the bus gives.
//
//   gpu_transport_benchmark [--gigabytes G] [--folder DIR] [--seconds S] [--rounds N] [--batches N...] [--blocks N...]
//                           [--json FILE]
//
// Packs records of 256x256 pixels into DIR (removed again), and then measures in turns: one large copy from pinned
// memory (the peak), pageable copies, copies of single records from the registered mapping; from the registered mapping
// with a kernel or with the copy engines, records as they are and made into batches; and threads that send records
// through a ring of pinned memory. Records come in random order, four batches are under way. The best round of each
// counts. CPU is in core-seconds a second, the whole process.
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "benchmarks/gpu_transport_ways.h"
#include "reader/gpu/cuda_check.h"

namespace {

namespace fs = std::filesystem;
using namespace imgpack::benchmark;
using Clock = std::chrono::steady_clock;

struct Options {
  double gigabytes = 2;
  fs::path folder = fs::temp_directory_path();
  double seconds = 0.5;
  int rounds = 3;
  std::vector<std::uint32_t> batches = {256, 512, 1024};
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

struct Measured {
  std::string name;
  std::uint32_t batch = 0;
  TransportWays::Way run;
  unsigned threads = 0;
  int blocks = 0;
  std::size_t image_bytes = kRecordBytes;
  double best = 0;  ///< GB/s
  double cpu = 0;   ///< of the best round
};

void measure(std::vector<Measured>& ways, const Options& options, int rounds) {
  for (Measured& way : ways) way.run(0.05);
  for (int round = 0; round < rounds; ++round) {
    for (Measured& way : ways) {
      const double cpu = cpu_seconds_of_process();
      const auto begin = Clock::now();
      const std::uint64_t bytes = way.run(options.seconds);
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      const double rate = static_cast<double>(bytes) / seconds * 1e-9;
      if (rate <= way.best) continue;
      way.best = rate;
      way.cpu = (cpu_seconds_of_process() - cpu) / seconds;
    }
  }
}

std::vector<Measured> registered_ways(TransportWays& ways, const Options& options) {
  std::vector<Measured> all = {{.name = "pinned copy (peak)", .batch = kLargestBatch, .run = ways.peak()},
                               {.name = "copies of registered records", .batch = 256, .run = ways.copies(256)}};
  const auto add = [&](std::uint32_t batch, Engine engine, int blocks) {
    const char* const how = engine == Engine::kernel ? "kernel" : "copy engines";
    all.push_back({.name = fmt::format("zero_copy, {}", how),
                   .batch = batch,
                   .run = ways.gather(batch, engine, blocks),
                   .blocks = blocks});
    all.push_back({.name = fmt::format("u8 nhwc images, {}", how),
                   .batch = batch,
                   .run = ways.raw(batch, false, engine, blocks),
                   .blocks = blocks});
    all.push_back({.name = fmt::format("crops 224, flip, f16 nchw, {}", how),
                   .batch = batch,
                   .run = ways.raw(batch, true, engine, blocks),
                   .blocks = blocks,
                   .image_bytes = kCropBytes});
  };
  for (const std::uint32_t batch : options.batches) {
    for (const int blocks : options.blocks) add(batch, Engine::kernel, blocks);
    if (imgpack::gpu::has_batched_copies()) add(batch, Engine::copy_engine, 0);
  }
  for (unsigned threads = 1; threads <= options.max_threads; threads *= 2) {
    all.push_back({.name = "pinned, a ring", .batch = 256, .run = ways.pinned(256, threads), .threads = threads});
  }
  return all;
}

void report(const std::vector<Measured>& ways, const TransportWays& transport, const Options& options) {
  cudaDeviceProp device{};
  imgpack::gpu::check(cudaGetDeviceProperties(&device, 0), "asking for the device");
  const double peak = ways.front().best;
  nlohmann::json results = nlohmann::json::array();
  fmt::print("{:<42} {:>5} {:>7} {:>6} {:>7} {:>8} {:>9} {:>9}\n", "way", "batch", "threads", "blocks", "GB/s",
             "of peak", "images/s", "CPU cores");
  for (const Measured& way : ways) {
    const double images = way.best * 1e9 / static_cast<double>(way.image_bytes);
    fmt::print("{:<42} {:>5} {:>7} {:>6} {:>7.1f} {:>7.1f}% {:>9.0f} {:>9.3f}\n", way.name, way.batch, way.threads,
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
  if (options.json.empty()) return;
  const nlohmann::json all = {{"benchmark", "gpu_transport"},       {"device", device.name},
                              {"records", transport.records()},     {"record_bytes", kRecordBytes},
                              {"transport", transport.transport()}, {"results", results}};
  std::ofstream file(options.json);
  file << all.dump(1) << '\n';
  if (!file.flush()) throw std::runtime_error("cannot write " + options.json);
}

void run(const Options& options) {
  TransportWays transport(options.folder, options.gigabytes);
  std::vector<Measured> pageable = {{.name = "pageable copies of records", .batch = 256, .run = transport.copies(256)}};
  measure(pageable, options, 1);  // once the mapping is registered, it is not pageable any more
  transport.register_file();
  fmt::print("{}\n", transport.transport());
  transport.check_bytes();
  std::vector<Measured> ways = registered_ways(transport, options);
  measure(ways, options, options.rounds);
  ways.insert(ways.begin() + 1, pageable.front());
  report(ways, transport, options);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Predecoded records from a packed file into GPU memory, by every way"};
  app.add_option("--gigabytes", options.gigabytes, "Size of the file")->check(CLI::PositiveNumber);
  app.add_option("--folder", options.folder, "Where the file is made")->check(CLI::ExistingDirectory);
  app.add_option("--seconds", options.seconds, "Of each measurement")->check(CLI::PositiveNumber);
  app.add_option("--rounds", options.rounds, "Measurements of each way")->check(CLI::PositiveNumber);
  app.add_option("--batches", options.batches, "Images of a batch, sizes to try")
      ->check(CLI::Range(std::uint32_t{1}, kLargestBatch));
  app.add_option("--blocks", options.blocks, "Sizes of the kernels' grids to try; 0: as the library does");
  app.add_option("--max-threads", options.max_threads, "Most threads that copy")->check(CLI::PositiveNumber);
  app.add_option("--json", options.json, "Where to write the results");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const std::exception& error) {
    std::cerr << "gpu_transport_benchmark: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
