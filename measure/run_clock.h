// When a run is over.
#pragma once

#include <chrono>

#include "measure/measurement.h"

namespace imgpack::measure {

/// Begins when it is made.
class RunClock {
 public:
  /// REQUIRES: `options` outlive it.
  explicit RunClock(const MeasureOptions& options) : options_(options), begin_(Clock::now()) {}

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  /// Whether the time is over, or somebody wants to stop.
  bool over() const { return (options_.stop && options_.stop()) || seconds() >= options_.seconds; }
  void restart() { begin_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;
  const MeasureOptions& options_;
  Clock::time_point begin_;
};

}  // namespace imgpack::measure
