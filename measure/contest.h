// Several ways of doing the same, run in turns: whatever disturbs the machine for a while disturbs all of them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "imgpack/error.h"
#include "measure/measurement.h"

namespace imgpack::measure {

struct ContestOptions {
  unsigned rounds = 5;
  /// Rounds before those that count, in which each contestant runs once with `round` 0.
  unsigned warm_up_rounds = 1;
  std::function<bool()> stop = {};  ///< asked before each run; true ends the contest
  /// Told before each run which contestant's turn it is, and how many runs are over, of how many.
  std::function<void(std::size_t contestant, std::size_t done, std::size_t total)> progress = {};
};

/// Which run it is.
struct Turn {
  unsigned round = 0;
  bool warm_up = false;
};

/// What became of one contestant.
struct ContestResult {
  std::vector<MeasureRun> runs;  ///< those that count, by round
  std::optional<Error> failure;  ///< why it has taken no further part
};

/// Every contestant runs once in each round; each round begins with another one, so that none is always the first. A
/// contestant that throws Error takes no further part, the others go on. Results are in the order of the contestants;
/// a contest that was stopped has fewer runs than rounds.
std::vector<ContestResult> hold_contest(const std::vector<std::function<MeasureRun(const Turn&)>>& contestants,
                                        const ContestOptions& options);

}  // namespace imgpack::measure
