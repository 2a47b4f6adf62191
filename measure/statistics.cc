#include "measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace imgpack::measure {

namespace {

/// REQUIRES: sorted, not empty; 0 <= share <= 1.
double quantile(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

double Summary::spread() const noexcept {
  return median == 0 ? 0 : (upper - lower) / median;
}

Summary summarize(std::span<const double> values) {
  if (values.empty()) return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return {.count = sorted.size(),
          .least = sorted.front(),
          .lower = quantile(sorted, 0.25),
          .median = quantile(sorted, 0.5),
          .upper = quantile(sorted, 0.75),
          .most = sorted.back()};
}

bool differ(const Summary& a, const Summary& b) noexcept {
  constexpr std::size_t kFewest = 3;
  if (a.count < kFewest || b.count < kFewest) return false;
  return a.upper < b.lower || b.upper < a.lower;
}

}  // namespace imgpack::measure
