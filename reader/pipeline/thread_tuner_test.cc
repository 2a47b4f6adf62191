#include "reader/pipeline/thread_tuner.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

namespace imgpack {

namespace {

/// Lets the tuner run for `seconds` where `rate(threads)` samples a second come; returns how many threads were used on
/// average over the last half.
double settle(ThreadTuner& tuner, double seconds, double waiting, const std::function<double(double)>& rate) {
  constexpr double kStep = 0.05;
  double samples = 0, waited = 0, sum = 0;
  int count = 0;
  for (double now = 0; now < seconds; now += kStep) {
    samples += rate(tuner.threads()) * kStep;
    waited += waiting * kStep;
    tuner.update({.seconds = now, .samples = samples, .wait_seconds = waited});
    if (now > seconds / 2) {
      sum += tuner.threads();
      ++count;
    }
  }
  return sum / count;
}

TEST_CASE("the number of threads climbs to where most is delivered") {
  for (const unsigned best : {1u, 2u, 5u, 8u, 16u}) {
    CAPTURE(best);
    const auto rate = [best](double threads) {
      return threads <= best ? 100 * threads : 100 * best - 30 * (threads - best);
    };
    for (const unsigned start : {1u, 4u, 8u, 16u}) {
      CAPTURE(start);
      ThreadTuner tuner(start, 16);
      CHECK(std::abs(settle(tuner, 120, 0.9, rate) - best) < 0.25);
    }
  }
}

TEST_CASE("while the consumer is the bound the number stays") {
  ThreadTuner tuner(4, 8);
  CHECK(settle(tuner, 30, 0.01, [](double) { return 100.0; }) == 4);
}

TEST_CASE("one thread is one thread") {
  ThreadTuner tuner(1, 1);
  CHECK(settle(tuner, 30, 1, [](double) { return 100.0; }) == 1);
}

}  // namespace

}  // namespace imgpack
