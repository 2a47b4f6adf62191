#include "examples/train_cpp/schedule.h"

#include <doctest/doctest.h>

namespace trainer {

TEST_CASE("cosine rises during the warm-up, then falls to nothing") {
  const Schedule schedule = {.kind = ScheduleKind::cosine, .peak = 0.4, .warmup = 0.2};
  CHECK(learning_rate(schedule, 0) == 0);
  CHECK(learning_rate(schedule, 0.05) == doctest::Approx(0.1));
  CHECK(learning_rate(schedule, 0.2) == doctest::Approx(0.4));
  CHECK(learning_rate(schedule, 0.6) == doctest::Approx(0.2));
  CHECK(learning_rate(schedule, 1) == doctest::Approx(0));
}

TEST_CASE("cosine without warm-up begins at the peak; with nothing but warm-up it ends there") {
  CHECK(learning_rate({.peak = 0.4}, 0) == doctest::Approx(0.4));
  CHECK(learning_rate({.peak = 0.4, .warmup = 1}, 1) == doctest::Approx(0.4));
}

TEST_CASE("one cycle has the values of torch's OneCycleLR") {
  // OneCycleLR(optimizer, max_lr=0.4, total_steps=10001) of torch 1.13; the step in which it begins to fall differs
  // by 1.
  const Schedule schedule = {.kind = ScheduleKind::one_cycle, .peak = 0.4};
  CHECK(learning_rate(schedule, 0) == doctest::Approx(0.016));
  CHECK(learning_rate(schedule, 0.15) == doctest::Approx(0.2080704).epsilon(1e-3));
  CHECK(learning_rate(schedule, 0.3) == doctest::Approx(0.4));
  CHECK(learning_rate(schedule, 0.5) == doctest::Approx(0.3246632).epsilon(1e-3));
  CHECK(learning_rate(schedule, 0.9) == doctest::Approx(0.0198039).epsilon(1e-3));
  CHECK(learning_rate(schedule, 1) == doctest::Approx(1.6e-6));
}

}  // namespace trainer
