// What all tests of pixels on the device go through.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "codec/image.h"
#include "imgpack/batch.h"

namespace imgpack::testing {

inline constexpr DType kDTypes[] = {DType::u8, DType::f32, DType::f16, DType::bf16};
inline constexpr Layout kLayouts[] = {Layout::nchw, Layout::nhwc};

inline std::size_t values_of(Size size) {
  return std::size_t{size.width} * size.height * 3;
}

inline std::uint32_t random_32(std::mt19937& random) {
  return static_cast<std::uint32_t>(random());
}

/// Not empty, in an image of that size.
inline Rect random_rect(Size size, std::mt19937& random) {
  const std::uint32_t width = 1 + random_32(random) % size.width;
  const std::uint32_t height = 1 + random_32(random) % size.height;
  return {random_32(random) % (size.width - width + 1), random_32(random) % (size.height - height + 1), width, height};
}

/// Packed RGB: noise, with gray and saturated pixels among it.
inline std::vector<std::uint8_t> random_pixels(Size size, std::mt19937& random) {
  std::vector<std::uint8_t> pixels(values_of(size));
  for (std::size_t i = 0; i < pixels.size(); i += 3) {
    const std::uint32_t bits = random_32(random);
    for (std::size_t c = 0; c < 3; ++c) pixels[i + c] = static_cast<std::uint8_t>(bits >> (8 * c));
    if (bits >> 28 == 0) pixels[i + 1] = pixels[i + 2] = pixels[i];
    if (bits >> 28 == 1) pixels[i + bits % 3] = 255;
    if (bits >> 28 == 2) pixels[i + bits % 3] = 0;
  }
  return pixels;
}

}  // namespace imgpack::testing
