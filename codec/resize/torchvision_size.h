// The rounding of torchvision's Resize and CenterCrop (0.14, functional.py).
#pragma once

#include <algorithm>
#include <cstdint>

namespace imgpack {

/// The side that is not set to `n`, when the other goes from `from` to `n`: rounded down, at least 1. That is
/// int(n * side / from) there: with floating point, which makes no difference while n * side < 2^53.
constexpr std::uint64_t proportional_side(std::uint32_t side, std::uint32_t from, std::uint32_t n) noexcept {
  return std::max<std::uint64_t>(1, std::uint64_t{n} * side / from);
}

/// What is left out before the middle: half of `excess`, rounded to even as Python's round() does.
constexpr std::uint32_t centered_margin(std::uint32_t excess) noexcept {
  const std::uint32_t half = excess / 2;
  return excess % 2 == 0 ? half : half + half % 2;
}

}  // namespace imgpack
