// A measurement by several threads at once.
#pragma once

#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "measure/run_clock.h"

namespace imgpack::measure {

/// Calls `work(thread, clock)` on each thread, which counts samples and bytes until the clock is over; the sum counts.
/// Throws what the first of them throws.
template <class Work>
MeasureRun run_in_parallel(unsigned threads, const MeasureOptions& options, Work&& work) {
  std::vector<MeasureRun> runs(threads);
  std::vector<std::exception_ptr> failures(threads);
  const RunClock clock(options);
  {
    std::vector<std::jthread> workers;
    for (unsigned t = 0; t < threads; ++t) {
      workers.emplace_back([&, t] {
        try {
          runs[t] = work(t, clock);
        } catch (...) {
          failures[t] = std::current_exception();
        }
      });
    }
  }
  MeasureRun all;
  all.seconds = clock.seconds();
  for (unsigned t = 0; t < threads; ++t) {
    if (failures[t]) std::rethrow_exception(failures[t]);
    all.samples += runs[t].samples;
    all.bytes += runs[t].bytes;
  }
  return all;
}

}  // namespace imgpack::measure
