// Opening and reading: what the storage and the format are good for, without any decoding.
#include <algorithm>

#include "measure/look_at.h"
#include "measure/measurements.h"
#include "measure/pass_order.h"
#include "measure/run_clock.h"
#include "measure/subject.h"

namespace imgpack::measure {

namespace {

/// How far ahead of its reading a sequential reader says what it will want: a few MB of JPEGs. Only where images are
/// not in memory: asking for those that are takes time.
constexpr std::uint64_t kWindow = 64;

void count_read(const OpenSubject& subject, std::uint64_t index, ByteBuffer& buffer, MeasureRun& run) {
  run.bytes += look_at(subject.read(index, buffer).payload);
  ++run.samples;
}

}  // namespace

MeasureRun measure_open(const MeasureContext& context) {
  MeasureRun run;
  const RunClock clock(context.options);
  do {
    run.bytes += context.subject.read_first();
    ++run.samples;
  } while (!context.options.single_pass && !clock.over());
  clock.stop(run);
  return run;
}

MeasureRun measure_seq(const MeasureContext& context) {
  const std::unique_ptr<OpenSubject> subject = context.subject.open();
  MeasureRun run;
  ByteBuffer buffer;
  const RunClock clock(context.options);
  const bool ahead = context.options.single_pass;
  do {
    for (std::uint64_t index = 0; index < subject->size() && !clock.over(); ++index) {
      if (ahead && index == 0) subject->expect(0, kWindow);
      if (ahead && index % kWindow == 0) subject->expect(index + kWindow, kWindow);
      count_read(*subject, index, buffer, run);
    }
  } while (!context.options.single_pass && !clock.over());
  clock.stop(run);
  return run;
}

MeasureRun measure_random(const MeasureContext& context) {
  const std::unique_ptr<OpenSubject> subject = context.subject.open();
  MeasureRun run;
  ByteBuffer buffer;
  PassOrder order(subject->size(), context.seed, context.options.single_pass);
  const RunClock clock(context.options);
  while (!clock.over()) {
    const std::optional<std::uint64_t> index = order.next();
    if (!index) break;
    count_read(*subject, *index, buffer, run);
  }
  clock.stop(run);
  return run;
}

}  // namespace imgpack::measure
