#include "tools/bench_options.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "imgpack/error.h"
#include "mmap/cpu_budget.h"
#include "tools/bench_report.h"
#include "tools/numbers.h"
#include "tools/packing_options.h"

namespace imgpack::tools {

using measure::Measure;

namespace {

constexpr std::uint32_t kMostRounds = 10'000;
constexpr std::uint32_t kMostBatch = 1u << 20;
constexpr double kMostSeconds = 86'400;
constexpr double kMostStepMs = 3'600'000;

void add_32_bit_option(CLI::App& command, const std::string& name, std::uint32_t most, std::uint32_t& value,
                       const std::string& description) {
  add_number_option(
      command, name, {.least = 1, .most = most},
      [&value](std::uint64_t number) { value = static_cast<std::uint32_t>(number); }, description);
}

void add_output_options(CLI::App& command, BenchOptions& options) {
  command.add_option("--csv", options.csv, "Also write the rows as CSV; - is standard output, instead of the table")
      ->type_name("FILE");
  command.add_option("--plot", options.plot, "Also write a figure, NAME.svg, or with the table, NAME.html")
      ->type_name("FILE");
  command.add_flag("--overwrite", options.overwrite, "Replace files that --csv and --plot name");
}

}  // namespace

void add_bench_options(CLI::App& command, BenchOptions& options) {
  command
      .add_option("FILE", options.files,
                  "Packed files, manifests, quoted patterns, names of shards, or folders of images")
      ->required()
      ->type_name("");
  command
      .add_option("--measure", options.measures,
                  "What is measured, separated by commas (default open,seq,random,decode,loader)")
      ->delimiter(',')
      ->allow_extra_args(false)  // what follows is a FILE
      ->check(CLI::IsMember({"open", "seq", "random", "decode", "loader", "gpu", "train"}));
  command.add_flag("--cold", options.cold, "Take the files out of the page cache before each run, and check that");
  add_real_option(command, "--seconds", 0.001, kMostSeconds, options.seconds, "How long a run lasts (default 1)");
  add_32_bit_option(command, "--rounds", kMostRounds, options.rounds, "Runs of each measure of each file (default 5)");
  add_32_bit_option(command, "--batch", kMostBatch, options.batch_size, "Images of a batch (default 64)");
  add_threads_option(command, options.threads);
  command.add_option("--device", options.device, "Where gpu and train make batches: cpu, cuda or cuda:N")
      ->type_name("DEVICE");
  add_real_option(command, "--step-ms", 0, kMostStepMs, options.step_ms,
                  "How many milliseconds the consumer of train works on a batch");
  command.add_option("--split", options.split, "Only this split; of a folder, the folder of that name in it")
      ->type_name("NAME");
  command.add_option("--baseline", options.baseline, "The file that Speed is relative to (default: the first)")
      ->type_name("FILE");
  add_number_option(
      command, "--seed", {}, [&options](std::uint64_t seed) { options.seed = seed; },
      "Of random orders and augmentation (default 0)");
  add_batch_transform_options(command, options.transform);
  add_output_options(command, options);
}

measure::ComparisonOptions to_comparison_options(const BenchOptions& options) {
  measure::ComparisonOptions result;
  for (const std::string& name : options.measures) {
    const Measure item = measure::measure_from_name(name).value();
    if (std::ranges::find(result.measures, item) == result.measures.end()) result.measures.push_back(item);
  }
  const bool trains = std::ranges::find(result.measures, Measure::train) != result.measures.end();
  if (trains != (options.step_ms > 0)) {
    throw Error(ErrorCode::invalid_argument,
                trains ? "--measure train needs --step-ms, the time that the consumer works on a batch"
                       : "--step-ms is for --measure train");
  }
  if (!device_from_name(options.device)) {
    throw Error(ErrorCode::invalid_argument, fmt::format("--device {}: cpu, cuda or cuda:N", options.device));
  }
  result.run.seconds = options.seconds;
  result.run.batch_size = options.batch_size;
  result.run.threads = options.threads == 0 ? cpu_budget() : options.threads;
  result.run.device = options.device;
  result.run.step_seconds = options.step_ms / 1000;
  apply(options.transform, result.run);
  result.rounds = options.rounds;
  result.cold = options.cold;
  result.seed = options.seed;
  return result;
}

std::size_t baseline_number(const BenchOptions& options) {
  if (options.baseline.empty()) return 0;
  const std::vector<std::string>& files = options.files;
  const auto named = std::ranges::find(files, options.baseline);
  if (named != files.end()) return static_cast<std::size_t>(named - files.begin());
  const std::vector<std::string> labels = short_labels(files);
  const auto labelled = std::ranges::find(labels, options.baseline);
  if (labelled != labels.end()) return static_cast<std::size_t>(labelled - labels.begin());
  throw Error(ErrorCode::invalid_argument,
              fmt::format("--baseline {}: none of the files has that name, or several have", options.baseline));
}

}  // namespace imgpack::tools
