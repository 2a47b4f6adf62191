// What the kernels of convert_kernels.cc compute, without vectors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reader/augment/convert_kernels.h"

namespace imgpack::plain {

inline void flip_row(const std::uint8_t* rgb, std::size_t width, std::uint8_t* out) {
  for (std::size_t x = 0; x < width; ++x) {
    const std::uint8_t* pixel = rgb + 3 * (width - 1 - x);
    out[3 * x] = pixel[0];
    out[3 * x + 1] = pixel[1];
    out[3 * x + 2] = pixel[2];
  }
}

inline void split_row(const std::uint8_t* rgb, std::size_t width, bool flip, std::uint8_t* r, std::uint8_t* g,
                      std::uint8_t* b) {
  for (std::size_t x = 0; x < width; ++x) {
    const std::uint8_t* pixel = rgb + 3 * (flip ? width - 1 - x : x);
    r[x] = pixel[0];
    g[x] = pixel[1];
    b[x] = pixel[2];
  }
}

/// `tables` by channel. REQUIRES: whole pixels if packed.
template <class T, class Tables>
void look_up(const std::uint8_t* values, std::size_t count, std::size_t channel, const Tables& tables, T* out) {
  if (channel == kPacked) {
    for (std::size_t i = 0; i < count; i += 3) {
      for (std::size_t c = 0; c < 3; ++c) out[i + c] = tables[c][values[i + c]];
    }
  } else {
    const auto& table = tables[channel];
    for (std::size_t i = 0; i < count; ++i) out[i] = table[values[i]];
  }
}

}  // namespace imgpack::plain
