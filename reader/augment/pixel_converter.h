// 8-bit RGB rows to values of a batch: dtype, layout, scale and, on the way, left and right exchanged.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/image.h"
#include "reader/augment/augmenter.h"
#include "reader/augment/convert_kernels.h"

namespace imgpack {

/// Values are, bit for bit, what torch computes: float32 v.div(255), then sub(mean).div(std); float16 and bfloat16 are
/// that rounded to nearest, halves to even. Not thread-safe.
class PixelConverter {
 public:
  explicit PixelConverter(const PixelFormat& format);

  /// Row `y` of an image of that size that begins at `out`, from size.width packed pixels. REQUIRES: `out` is aligned
  /// to the dtype and does not hold `rgb`.
  void convert_row(const std::uint8_t* rgb, Size size, std::uint32_t y, bool flip, std::byte* out);

 private:
  void convert_values(const std::uint8_t* values, std::size_t count, std::size_t channel, std::byte* out) const;

  PixelFormat format_;
  std::size_t value_bytes_;
  ValueTables tables_;
  FastScale scale_;
  bool fast_ = false;  ///< the arithmetic of the kernels gives what the tables say
  std::vector<std::uint8_t> scratch_;
};

}  // namespace imgpack
