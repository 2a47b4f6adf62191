// Pillow's resize as it is written down, one value after the other: what a careful programmer writes and a compiler
// makes of it. The baseline of resizing benchmarks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/image.h"
#include "codec/resize/fixed_point.h"
#include "codec/resize/resample_axis.h"

namespace imgpack {

/// Keeps its memory.
class PlainResize {
 public:
  /// REQUIRES: the axes are made for the size of `source` and for all of the size of `out`.
  void resize(ConstRgbView source, const ResampleAxis& horizontal, const ResampleAxis& vertical, RgbView out) {
    const std::uint32_t first_row = vertical.begin();
    const std::size_t stride = std::size_t{out.width} * 3;
    middle_.resize((vertical.end() - first_row) * stride);
    for (std::uint32_t y = first_row; y < vertical.end(); ++y) {
      for (std::uint32_t x = 0; x < out.width; ++x) {
        weigh(source.row(y) + std::size_t{horizontal.first[x]} * 3, 3, horizontal, x,
              middle_.data() + (y - first_row) * stride + std::size_t{x} * 3);
      }
    }
    for (std::uint32_t y = 0; y < out.height; ++y) {
      for (std::uint32_t x = 0; x < out.width; ++x) {
        weigh(middle_.data() + (vertical.first[y] - first_row) * stride + std::size_t{x} * 3, stride, vertical, y,
              out.row(y) + std::size_t{x} * 3);
      }
    }
  }

 private:
  static void weigh(const std::uint8_t* source, std::size_t step, const ResampleAxis& axis, std::uint32_t i,
                    std::uint8_t* out) {
    if (axis.is_copy) {
      std::copy_n(source, 3, out);
      return;
    }
    const std::int32_t* const weights = axis.weights.data() + std::size_t{i} * axis.stride;
    std::int32_t red = kWeightHalf;
    std::int32_t green = kWeightHalf;
    std::int32_t blue = kWeightHalf;
    for (std::uint32_t t = 0; t < axis.count[i]; ++t, source += step) {
      red = add_weighted(red, source[0], weights[t]);
      green = add_weighted(green, source[1], weights[t]);
      blue = add_weighted(blue, source[2], weights[t]);
    }
    out[0] = finish_value(red);
    out[1] = finish_value(green);
    out[2] = finish_value(blue);
  }

  std::vector<std::uint8_t> middle_;
};

}  // namespace imgpack
