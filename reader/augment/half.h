// Rounding of float32 to 16-bit floating point, and back: to nearest, halves to even, as IEEE 754 and torch do it. For
// host and device.
#pragma once

#include <bit>
#include <cstdint>

#include "codec/host_device.h"

namespace imgpack {

/// Bits of the bfloat16 next to `value`. NaN stays NaN.
IMGPACK_HD constexpr std::uint16_t to_bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

IMGPACK_HD constexpr float from_bfloat16(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

/// Bits of the IEEE half-precision number next to `value`; infinity from 65520 on. NaN stays NaN.
IMGPACK_HD constexpr std::uint16_t to_float16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return sign | 0x7E00;
  if (magnitude >= 0x477FF000) return sign | 0x7C00;
  const auto round = [](std::uint32_t number, std::uint32_t dropped) {  // shifted right
    const std::uint32_t half = (std::uint32_t{1} << (dropped - 1)) - 1;
    return (number + half + (number >> dropped & 1)) >> dropped;
  };
  if (magnitude >= 0x38800000) return static_cast<std::uint16_t>(sign | round(magnitude - 0x38000000, 13));
  const std::uint32_t shift = 126 - (magnitude >> 23);  // below 2^-14: multiples of 2^-24
  if (shift > 24) return sign;
  return static_cast<std::uint16_t>(sign | round((magnitude & 0x7FFFFF) | 0x800000, shift));
}

IMGPACK_HD constexpr float from_float16(std::uint16_t bits) noexcept {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16;
  const std::uint32_t magnitude = bits & 0x7FFFU;
  if (magnitude >= 0x7C00) return std::bit_cast<float>(sign | 0x7F800000 | (magnitude & 0x3FF) << 13);
  if (magnitude >= 0x400) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000));
  const float value = static_cast<float>(magnitude) * 0x1p-24F;
  return sign != 0 ? -value : value;
}

}  // namespace imgpack
