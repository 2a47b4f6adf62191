// Beta-distributed random numbers.
#pragma once

#include <cmath>

#include "reader/random/random_stream.h"

namespace imgpack {

/// The logarithm of a number of the gamma distribution with shape `alpha` > 0 and scale 1: Marsaglia and Tsang, "A
/// simple method for generating gamma variables" (ACM TOMS 26, 2000), which for alpha < 1 needs the power of a uniform
/// number. As a logarithm since that power underflows for small alpha.
inline double log_gamma_variate(RandomStream& random, double alpha) noexcept {
  const double boost = alpha < 1 ? std::log(1 - random.uniform()) / alpha : 0;
  const double d = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal();
    const double cube_root = 1 + c * x;
    if (cube_root <= 0) continue;
    const double v = cube_root * cube_root * cube_root;
    if (std::log(1 - random.uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return std::log(d * v) + boost;
  }
}

/// A number of Beta(alpha, alpha), alpha > 0: in [0, 1].
inline double symmetric_beta(RandomStream& random, double alpha) noexcept {
  const double first = log_gamma_variate(random, alpha);
  const double second = log_gamma_variate(random, alpha);
  return 1 / (1 + std::exp(second - first));
}

}  // namespace imgpack
