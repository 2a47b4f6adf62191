// What each 8-bit value becomes in a batch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "imgpack/batch.h"
#include "reader/augment/half.h"
#include "reader/augment/pixel_format.h"

namespace imgpack {

/// By channel and value: float32, and bits of the dtype if that has 16 of them.
struct ValueTables {
  std::array<std::array<float, 256>, 3> f32;
  std::array<std::array<std::uint16_t, 256>, 3> half;
};

/// As torch computes it: float32 v.div(255), then sub(mean).div(std), then rounded to the dtype. To be compiled without
/// contraction of floating-point operations.
inline ValueTables make_value_tables(const PixelFormat& format) {
  ValueTables tables;
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t v = 0; v < 256; ++v) {
      float value = static_cast<float>(v) / 255.0F;
      if (format.normalize) {
        value = value - format.normalize->mean[c];
        value = value / format.normalize->std[c];
      }
      tables.f32[c][v] = value;
      tables.half[c][v] = format.dtype == DType::bf16 ? to_bfloat16(value) : to_float16(value);
    }
  }
  return tables;
}

}  // namespace imgpack
