// Several subjects, several measures, warm or cold: all that bench shows, as numbers.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "imgpack/error.h"
#include "measure/cold_cache.h"
#include "measure/measurement.h"
#include "measure/statistics.h"
#include "measure/subject.h"

namespace imgpack::measure {

struct ComparisonOptions {
  std::vector<Measure> measures;
  MeasureOptions run;  ///< seed and single_pass are set for each run
  unsigned rounds = 5;
  bool cold = false;       ///< each run evicts the files first, and reads each image once at most
  std::uint64_t seed = 0;  ///< of round 0; the others follow
  /// Told before each run: which row's turn it is, and how many runs are over, of how many.
  std::function<void(Measure measure, const Subject& subject, std::size_t done, std::size_t total)> progress = {};
};

/// One run, and with `cold` what the page cache had.
struct RowRun {
  MeasureRun run;
  std::optional<Eviction> eviction;         ///< before the run
  std::optional<Residency> resident_after;  ///< the run
};

/// One measure of one subject.
struct Row {
  Measure measure = Measure::open;
  std::size_t subject = 0;  ///< its number
  std::vector<RowRun> runs;
  std::string reason;            ///< why the measure has no meaning here; empty if it has one
  std::optional<Error> failure;  ///< what went wrong, if anything; runs before it are in `runs`

  bool measured() const noexcept { return !runs.empty() && !failure; }
  Summary rates() const;       ///< of the runs' samples a second
  Summary byte_rates() const;  ///< of the runs' bytes a second
  Summary cpu_costs() const;   ///< of the runs' CPU seconds a sample
  /// The run whose rate is the median, or the next above it. REQUIRES: there are runs.
  const RowRun& typical() const;
  /// What evicting has left in the worst run; nothing if not cold.
  std::optional<Eviction> worst_eviction() const;
};

/// One measure after the other; within each the subjects in turns (contest.h), after a warm-up of a fifth of a run
/// unless `cold`. Rows are ordered by measure, then by subject. What goes wrong in a run is that row's failure. If
/// options.run.stop becomes true, rows stay incomplete, or are missing. Not thread-safe with itself: measurements
/// disturb each other.
std::vector<Row> compare(std::span<const std::unique_ptr<Subject>> subjects, const ComparisonOptions& options);

/// One run, by itself: evicts first, if `cold`. Throws what the measurement throws.
RowRun run_once(Measure measure, const Subject& subject, const MeasureOptions& options, bool cold, std::uint64_t seed);

}  // namespace imgpack::measure
