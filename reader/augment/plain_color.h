// What Pillow computes of one pixel, and with that what the kernels of color_kernels.cc compute, without vectors. The
// files that use this are compiled without contraction of floating-point operations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace imgpack::plain {

/// ITU-R 601-2 luma, Pillow's "L" (L24 of Convert.c).
inline std::uint8_t luma(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

/// Image.blend() of one value (Blend.c); its clipping is without effect for factors from 0 to 1.
inline std::uint8_t blend(int from, int to, float factor) {
  const float value = static_cast<float>(from) + factor * static_cast<float>(to - from);
  return static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F));
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
