// What Pillow computes of one pixel, and with that what the kernels of color_kernels.cc compute, without vectors; for
// host and device. The files that use this are compiled without contraction of floating-point operations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "codec/host_device.h"

namespace imgpack::plain {

/// ITU-R 601-2 luma, Pillow's "L" (L24 of Convert.c), of values from 0 to 255.
IMGPACK_HD constexpr int luma(int r, int g, int b) noexcept {
  return (r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16;
}
IMGPACK_HD constexpr std::uint8_t luma(const std::uint8_t* rgb) noexcept {
  return static_cast<std::uint8_t>(luma(rgb[0], rgb[1], rgb[2]));
}

/// Image.blend() of one value (Blend.c); its clipping is without effect for factors from 0 to 1.
IMGPACK_HD constexpr std::uint8_t blend(int from, int to, float factor) noexcept {
  const float value = static_cast<float>(from) + factor * static_cast<float>(to - from);
  return static_cast<std::uint8_t>(value <= 0 ? 0.0F : value >= 255 ? 255.0F : value);
}

/// ImageStat's mean of the gray image, rounded as ImageEnhance.Contrast does. REQUIRES: pixels > 0.
IMGPACK_HD constexpr int mean_luma(std::uint64_t sum, std::uint64_t pixels) noexcept {
  return static_cast<int>(static_cast<double>(sum) / static_cast<double>(pixels) + 0.5);
}

inline std::uint64_t sum_luma(const std::uint8_t* rgb, std::size_t width) {
  std::uint64_t sum = 0;
  for (std::size_t x = 0; x < width; ++x) sum += luma(rgb + 3 * x);
  return sum;
}

inline void blend_row_with(std::uint8_t* values, std::size_t count, int from, float factor) {
  for (std::size_t i = 0; i < count; ++i) values[i] = blend(from, values[i], factor);
}

inline void saturate_row(std::uint8_t* rgb, std::size_t width, float factor) {
  for (std::size_t x = 0; x < width; ++x) {
    const int gray = luma(rgb + 3 * x);
    blend_row_with(rgb + 3 * x, 3, gray, factor);
  }
}

inline void gray_row(std::uint8_t* rgb, std::size_t width) {
  for (std::size_t x = 0; x < width; ++x) std::fill_n(rgb + 3 * x, 3, luma(rgb + 3 * x));
}

}  // namespace imgpack::plain
