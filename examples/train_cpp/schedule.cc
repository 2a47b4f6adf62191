#include "examples/train_cpp/schedule.h"

#include <cmath>
#include <numbers>

namespace trainer {

namespace {

// Those of torch's OneCycleLR.
constexpr double kRise = 0.3;
constexpr double kStartDivisor = 25;
constexpr double kEndDivisor = 25e4;

/// Half a cosine wave from `from` to `to`.
double anneal(double from, double to, double part) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * part)) / 2;
}

}  // namespace

double learning_rate(const Schedule& schedule, double progress) {
  const double peak = schedule.peak;
  if (schedule.kind == ScheduleKind::one_cycle) {
    if (progress < kRise) return anneal(peak / kStartDivisor, peak, progress / kRise);
    return anneal(peak, peak / kEndDivisor, (progress - kRise) / (1 - kRise));
  }
  if (progress < schedule.warmup) return peak * progress / schedule.warmup;
  return schedule.warmup < 1 ? anneal(peak, 0, (progress - schedule.warmup) / (1 - schedule.warmup)) : peak;
}

}  // namespace trainer
