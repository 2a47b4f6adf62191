// From components to RGB: libjpeg's fixed-point conversion (jdcolor.c) and "fancy" upsampling (jdsample.c). For host
// and device; the host has faster forms of the same in kernels.cc.
#pragma once

#include <cstdint>

#include "codec/clamp.h"
#include "codec/host_device.h"

namespace imgpack::jpeg {

struct Rgb {
  std::uint8_t r, g, b;
};

/// JFIF's conversion with 16 fractional bits.
IMGPACK_HD constexpr Rgb ycc_to_rgb(std::uint8_t y, std::uint8_t cb, std::uint8_t cr) {
  constexpr std::int32_t kHalf = 1 << 15;
  constexpr std::int32_t kRedOfCr = 91881;    // 1.40200
  constexpr std::int32_t kBlueOfCb = 116130;  // 1.77200
  constexpr std::int32_t kGreenOfCb = 22554;  // 0.34414
  constexpr std::int32_t kGreenOfCr = 46802;  // 0.71414
  const std::int32_t b = cb - 128;
  const std::int32_t r = cr - 128;
  return {clamp_to_byte(y + ((kRedOfCr * r + kHalf) >> 16)),
          clamp_to_byte(y + ((-kGreenOfCb * b - kGreenOfCr * r + kHalf) >> 16)),
          clamp_to_byte(y + ((kBlueOfCb * b + kHalf) >> 16))};
}

// Fancy upsampling by two: three quarters of the nearer sample, one quarter of the next, with alternating rounding. At
// the image's edges the neighbour is the sample itself.

/// Horizontal only. `left` is the output's parity: whether it is the left one of the two made from `near`.
IMGPACK_HD constexpr std::uint8_t upsample_h2(std::uint8_t near, std::uint8_t neighbour, bool left) {
  return static_cast<std::uint8_t>((3 * near + neighbour + (left ? 1 : 2)) >> 2);
}
/// Vertical only. `upper`: whether it is the upper one of the two made from `near`.
IMGPACK_HD constexpr std::uint8_t upsample_v2(std::uint8_t near, std::uint8_t neighbour, bool upper) {
  return static_cast<std::uint8_t>((3 * near + neighbour + (upper ? 1 : 2)) >> 2);
}
/// Both: of the sums 3 * near + far down the nearer and the neighbouring column.
IMGPACK_HD constexpr std::uint8_t upsample_h2v2(std::int32_t near_sum, std::int32_t neighbour_sum, bool left) {
  return static_cast<std::uint8_t>((3 * near_sum + neighbour_sum + (left ? 8 : 7)) >> 4);
}

}  // namespace imgpack::jpeg
