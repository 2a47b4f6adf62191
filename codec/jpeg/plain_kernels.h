// The functions of kernels.h without vector instructions: for processors that have none, and what the others are
// tested against.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/jpeg/color.h"
#include "codec/jpeg/idct.h"
#include "codec/jpeg/kernels.h"

namespace imgpack::jpeg::plain {

inline void inverse_dct_pair(const std::int16_t* coefficients, const BlockTarget (&targets)[kPair]) {
  for (std::size_t b = 0; b < kPair; ++b) {
    inverse_dct(coefficients + b * 8, kPairStride, targets[b].out, targets[b].stride);
  }
}

inline void upsample_row_h2(const std::uint8_t* in, std::size_t count, std::uint8_t* out) {
  for (std::size_t i = 0; i < count; ++i) {
    out[2 * i] = upsample_h2(in[i], *(in + i - 1), true);
    out[2 * i + 1] = upsample_h2(in[i], in[i + 1], false);
  }
}

inline void upsample_row_v2(const std::uint8_t* near, const std::uint8_t* far, bool upper, std::size_t count,
                            std::uint8_t* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = upsample_v2(near[i], far[i], upper);
}

inline void upsample_row_h2v2(const std::uint8_t* near, const std::uint8_t* far, std::size_t count, std::uint8_t* out) {
  const auto column = [&](std::ptrdiff_t i) { return 3 * near[i] + far[i]; };
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    out[2 * i] = upsample_h2v2(column(at), column(at - 1), true);
    out[2 * i + 1] = upsample_h2v2(column(at), column(at + 1), false);
  }
}

inline void ycc_row_to_rgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, std::size_t count,
                           std::uint8_t* rgb) {
  for (std::size_t i = 0; i < count; ++i) {
    const Rgb pixel = ycc_to_rgb(y[i], cb[i], cr[i]);
    rgb[3 * i] = pixel.r;
    rgb[3 * i + 1] = pixel.g;
    rgb[3 * i + 2] = pixel.b;
  }
}

inline void interleave_row(const std::uint8_t* r, const std::uint8_t* g, const std::uint8_t* b, std::size_t count,
                           std::uint8_t* rgb) {
  for (std::size_t i = 0; i < count; ++i) {
    rgb[3 * i] = r[i];
    rgb[3 * i + 1] = g[i];
    rgb[3 * i + 2] = b[i];
  }
}

}  // namespace imgpack::jpeg::plain
