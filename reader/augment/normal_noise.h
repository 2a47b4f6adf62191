// Standard normal values for RandomErasing, as many as pixels need: four from each block of random bits (Box and
// Muller), value n from block n / 4, so that any of them can be made alone. For host and device.
//
// Logarithm, sine and cosine are series in double precision, not those of a library: with nothing but additions,
// multiplications, divisions and square roots, which IEEE 754 defines to the last bit, every host and device gets the
// same float32. To be compiled without contraction of floating-point operations.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "codec/host_device.h"
#include "reader/random/philox.h"

namespace imgpack {

namespace noise_math {

/// Coefficients from that of the highest power on.
template <class... Rest>
IMGPACK_HD constexpr double polynomial(double x, double first, Rest... rest) noexcept {
  double sum = first;
  ((sum = sum * x + rest), ...);
  return sum;
}

/// The natural logarithm, for numbers from 2^-64 to 1; its error is below 2^-38 of it.
IMGPACK_HD constexpr double log(double x) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<int>(bits >> 52) - 1023;
  auto mantissa = std::bit_cast<double>((bits & 0x000F'FFFF'FFFF'FFFF) | 0x3FF0'0000'0000'0000);
  if (mantissa > std::numbers::sqrt2) {
    mantissa *= 0.5;
    ++exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);  // 2 artanh(s), |s| < 0.172
  const double square = s * s;
  const double sum = polynomial(square, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0);
  return exponent * std::numbers::ln2 + 2 * s * sum;
}

struct SineCosine {
  double sine;
  double cosine;
};

/// Of `turn` / 2^32 turns; errors are below 2^-40.
IMGPACK_HD constexpr SineCosine sine_cosine(std::uint32_t turn) noexcept {
  const std::uint32_t quarter = (turn + 0x20000000U) >> 30;  // the next one
  const auto rest = static_cast<std::int32_t>(turn - (quarter << 30));
  const double angle = rest * (0x1p-31 * std::numbers::pi);  // at most an eighth of a turn
  const double square = angle * angle;
  // Reciprocals of factorials.
  const double sine = angle * polynomial(square, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040,
                                         1.0 / 120, -1.0 / 6, 1.0);
  const double cosine =
      polynomial(square, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5, 1.0);
  switch (quarter & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

}  // namespace noise_math

/// Four values, within about 6.7 deviations. `operation` is the step's; its rectangle was drawn from the stream of that
/// number, this is another one. Block numbers go from 0 on.
struct NormalBlock {
  float values[4];
};
IMGPACK_HD inline NormalBlock normal_block(std::uint64_t key, std::uint64_t record, std::uint32_t operation,
                                           std::uint32_t number) noexcept {
  const PhiloxBlock counter = {{static_cast<std::uint32_t>(record), static_cast<std::uint32_t>(record >> 32),
                                operation | std::uint32_t{1} << 31, number}};
  const PhiloxBlock random = philox4x32(counter, key);
  NormalBlock block;
  for (int i = 0; i < 4; i += 2) {
    const double uniform = random.words[i] * 0x1p-32 + 0x1p-33;  // in (0, 1)
    const double radius = std::sqrt(-2 * noise_math::log(uniform));
    const noise_math::SineCosine direction = noise_math::sine_cosine(random.words[i + 1]);
    block.values[i] = static_cast<float>(radius * direction.cosine);
    block.values[i + 1] = static_cast<float>(radius * direction.sine);
  }
  return block;
}

/// The values one after the other.
class NormalNoise {
 public:
  NormalNoise(std::uint64_t key, std::uint64_t record, std::uint32_t operation) noexcept
      : key_(key), record_(record), operation_(operation) {}

  float next() noexcept {
    if (used_ == 4) {
      block_ = normal_block(key_, record_, operation_, number_++);
      used_ = 0;
    }
    return block_.values[used_++];
  }

 private:
  std::uint64_t key_;
  std::uint64_t record_;
  std::uint32_t operation_;
  std::uint32_t number_ = 0;
  NormalBlock block_{};
  std::size_t used_ = 4;
};

}  // namespace imgpack
