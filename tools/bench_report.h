// What bench has found out, and the forms it is given in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/comparison.h"
#include "tools/console.h"

namespace imgpack::tools {

/// A FILE as tables show it.
struct BenchSubject {
  std::string file;        ///< as it was named
  std::string label;       ///< short, and unlike the others'
  std::string kind;        ///< "rec", ..., "folder"
  std::string dataloader;  ///< what makes its batches
  measure::Storage storage;
  std::uint64_t images = 0;
  std::uint64_t bytes = 0;  ///< of its files
  /// Of these bytes, in the page cache before the first run; nothing if it was not looked for.
  std::optional<std::uint64_t> resident_before;
};

struct BenchMachine {
  std::string cpu;
  unsigned cpus = 0;  ///< that this process may use
  std::vector<std::string> gpus;
  double load_before = -1;  ///< negative: unknown
  double load_after = -1;
};

struct BenchReport {
  BenchMachine machine;
  std::vector<BenchSubject> subjects;
  std::size_t baseline = 0;  ///< number of a subject
  std::string split;
  measure::ComparisonOptions options;
  std::vector<measure::Row> rows;
  double seconds = 0;  ///< that all took

  const BenchSubject& subject_of(const measure::Row& row) const { return subjects[row.subject]; }
  /// The row of the baseline in the same measure; nullptr if that was not measured.
  const measure::Row* baseline_of(const measure::Row& row) const;
  /// Rate relative to the baseline's; nothing unless both were measured.
  std::optional<double> speed_of(const measure::Row& row) const;
  /// Whether the speed is more than noise. True for the baseline itself.
  bool speed_is_clear(const measure::Row& row) const;
  /// "none", "cuda:0 (NVIDIA H200)".
  std::string gpu_of(const measure::Row& row) const;
  /// Of the time of a run, the consumer's; only of train.
  std::optional<double> gpu_efficiency_of(const measure::Row& row) const;
  /// Why a row has no figures, or why they are not what was asked for; empty if there is nothing to say.
  std::string note_of(const measure::Row& row) const;
};

/// Whether the quartiles lie so far apart that a median says little.
bool is_noisy(const measure::Summary& rates) noexcept;

/// File names without their folders, as far as those tell them apart.
std::vector<std::string> short_labels(const std::vector<std::string>& files);

/// "12.3", "1,234": three digits that mean something.
std::string rate_number(double rate);

Json bench_json(const BenchReport& report);
/// RFC 4180, with a header line.
std::string bench_csv(const BenchReport& report);
std::string bench_table(const BenchReport& report);
/// A figure that needs nothing else: bars with whiskers from quartile to quartile, one group a measure.
std::string bench_svg(const BenchReport& report);
/// The figure and the table as a page that needs nothing else.
std::string bench_html(const BenchReport& report);

}  // namespace imgpack::tools
