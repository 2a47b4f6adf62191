// The options of bench.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/comparison.h"
#include "tools/batch_transform_options.h"

namespace CLI {
class App;
}

namespace imgpack::tools {

struct BenchOptions {
  std::vector<std::string> files;
  std::vector<std::string> measures = {"open", "seq", "random", "decode", "loader"};
  bool cold = false;
  double seconds = 1;
  std::uint32_t rounds = 5;
  std::uint32_t batch_size = 64;
  unsigned threads = 0;
  std::string device = "cpu";
  double step_ms = 0;
  std::string split;
  std::string baseline;
  std::uint64_t seed = 0;
  BatchTransformOptions transform;
  std::string csv;
  std::string plot;
  bool overwrite = false;
};

/// FILE and all options but the common ones.
void add_bench_options(CLI::App& command, BenchOptions& options);

/// The library's form. Throws Error(invalid_argument) where options contradict each other.
measure::ComparisonOptions to_comparison_options(const BenchOptions& options);

/// The number of the file that --baseline names, as it was given or by its last component; 0 without the option. Throws
/// Error(invalid_argument) if it names none, or several.
std::size_t baseline_number(const BenchOptions& options);

}  // namespace imgpack::tools
