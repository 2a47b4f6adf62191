#include "codec/jpeg/restart_interval.h"

#include <algorithm>

namespace imgpack {

std::uint32_t choose_restart_interval(std::uint32_t mcus_per_row, std::uint32_t blocks_per_mcu) {
  constexpr std::uint32_t kLeast = 16;
  constexpr std::uint32_t kTarget = 24;
  constexpr std::uint32_t kMost = 48;
  std::uint32_t best = mcus_per_row;
  const auto badness = [&](std::uint32_t mcus) {
    const double ratio = static_cast<double>(mcus * blocks_per_mcu) / kTarget;
    return std::max(ratio, 1 / ratio);
  };
  for (std::uint32_t mcus = 1; mcus <= kMost && mcus < mcus_per_row; ++mcus) {
    const std::uint32_t blocks = mcus * blocks_per_mcu;
    if (mcus_per_row % mcus != 0 || blocks < kLeast || blocks > kMost) continue;
    if (badness(mcus) < badness(best)) best = mcus;
  }
  return best;
}

}  // namespace imgpack
