// Loaders, and a consumer that takes their batches: at once, or working on each for a while.
#include <algorithm>
#include <chrono>
#include <thread>

#include "measure/measurements.h"
#include "measure/run_clock.h"
#include "measure/subject.h"
#include "mmap/cpu_budget.h"

namespace imgpack::measure {

namespace {

/// What does not count of a run: this share of it, but not longer than that many seconds.
constexpr double kSettlingShare = 0.1;
constexpr double kMostSettling = 0.2;

BatchStreamOptions stream_options(Measure measure, const MeasureContext& context) {
  const MeasureOptions& options = context.options;
  return {.batch_size = options.batch_size,
          .threads = options.threads == 0 ? cpu_budget() : options.threads,
          .device = device_of(measure, options),
          .transform = options.transform,
          .dtype = options.dtype,
          .layout = options.layout,
          .seed = context.seed,
          .past_cache = options.past_cache,
          .single_pass = options.single_pass};
}

/// Stands for a GPU that trains: keeps the host waiting, and uses no CPU. Returns how long it really took.
double work_on_batch(double seconds, const MeasureOptions& options) {
  if (seconds <= 0) return 0;
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kBetweenQuestions{50};  // so that a long step can be stopped
  const Clock::time_point begin = Clock::now();
  const Clock::time_point end =
      begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  for (Clock::time_point now = begin; now < end && !(options.stop && options.stop()); now = Clock::now()) {
    std::this_thread::sleep_until(std::min<Clock::time_point>(end, now + kBetweenQuestions));
  }
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

MeasureRun measure_batches(Measure measure, const MeasureContext& context) {
  const MeasureOptions& options = context.options;
  const double step_seconds = measure == Measure::train ? options.step_seconds : 0;
  const std::unique_ptr<BatchStream> stream = context.subject.batches(stream_options(measure, context));
  RunClock clock(options);
  std::uint64_t bytes_before = 0;
  if (!options.single_pass) {  // the way of the first batch through an empty pipeline is no part of a steady state
    if (!stream->next()) return {};
    // Nor are the batches that were made ahead while it was waited for.
    const double settled = std::min(options.seconds * kSettlingShare, kMostSettling);
    while (clock.seconds() < settled && stream->next()) {
    }
    bytes_before = stream->bytes_read();
    clock.restart();
  }
  MeasureRun run;
  while (!clock.over()) {
    const std::optional<std::uint32_t> images = stream->next();
    if (!images) break;
    run.samples += *images;
    ++run.steps;
    run.work_seconds += work_on_batch(step_seconds, options);
  }
  clock.stop(run);
  run.bytes = stream->bytes_read() - bytes_before;
  run.transport = stream->transport();
  return run;
}

}  // namespace imgpack::measure
