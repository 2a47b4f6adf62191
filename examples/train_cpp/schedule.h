// Learning rate as a function of how much of the run is done. Needs no state: a resumed run takes the same rates.
#pragma once

#include <cstdint>

namespace trainer {

enum class ScheduleKind : std::uint8_t {
  cosine,     ///< linear warm-up from 0, then half a cosine wave down to 0
  one_cycle,  ///< from peak / 25 up in 30 % of the run, then down to peak / 250000: torch's OneCycleLR, momentum apart
};

struct Schedule {
  ScheduleKind kind = ScheduleKind::cosine;
  double peak = 0.1;
  double warmup = 0;  ///< part of the run, 0 to 1; of ScheduleKind::cosine
};

/// `progress`: 0 at the start of the run, 1 at its end.
double learning_rate(const Schedule& schedule, double progress);

}  // namespace trainer
