// When a run is over.
#pragma once

#include <chrono>
#include <ctime>

#include "measure/measurement.h"

namespace imgpack::measure {

/// Begins when it is made.
class RunClock {
 public:
  /// REQUIRES: `options` outlive it.
  explicit RunClock(const MeasureOptions& options) : options_(options) { restart(); }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  /// Whether the time is over, or somebody wants to stop.
  bool over() const { return (options_.stop && options_.stop()) || seconds() >= options_.seconds; }
  void restart() {
    begin_ = Clock::now();
    cpu_begin_ = process_seconds();
  }
  /// Notes in `run` how long it took.
  void stop(MeasureRun& run) const {
    run.seconds = seconds();
    run.cpu_seconds = process_seconds() - cpu_begin_;
  }

 private:
  static double process_seconds() {
    std::timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  using Clock = std::chrono::steady_clock;
  const MeasureOptions& options_;
  Clock::time_point begin_;
  double cpu_begin_ = 0;
};

}  // namespace imgpack::measure
