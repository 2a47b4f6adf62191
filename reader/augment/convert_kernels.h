// The inner loops of PixelConverter, for whatever vector instructions the processor has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "imgpack/batch.h"

namespace imgpack {

/// What each 8-bit value of a channel becomes: bits of float32, and of the dtype if that has 16 bits.
struct ValueTables {
  std::array<std::array<float, 256>, 3> f32;
  std::array<std::array<std::uint16_t, 256>, 3> half;
};

/// Multiplications in place of divisions. v / 255 is fma(v, high, v * low), where high + low is 1 / 255 with twice the
/// digits of a float; likewise for a division by the deviation. Both round to the exact quotient for almost all
/// constants; whether for these is found by trying all values.
struct FastScale {
  static constexpr std::size_t kPeriod = 48;  ///< three vectors of 16 values, in which the channels repeat
  bool normalize = false;
  float unit_high = 0;
  float unit_low = 0;
  // By place in packed pixels: R, G, B, R, ...
  alignas(64) std::array<float, kPeriod> mean;
  alignas(64) std::array<float, kPeriod> scale_high;
  alignas(64) std::array<float, kPeriod> scale_low;
};

/// Pixels from right to left. REQUIRES: no overlap.
void flip_row(const std::uint8_t* rgb, std::size_t width, std::uint8_t* out);
/// Packed pixels to a row of each plane, from right to left if `flip`.
void split_row(const std::uint8_t* rgb, std::size_t width, bool flip, std::uint8_t* r, std::uint8_t* g,
               std::uint8_t* b);

/// Which values a row consists of: of one channel 0, 1 or 2, or of packed pixels.
inline constexpr std::size_t kPacked = 3;

/// `count` values to `dtype`, which is not u8, by arithmetic. REQUIRES: a multiple of 3 of packed ones.
void scale_values(const std::uint8_t* values, std::size_t count, std::size_t channel, const FastScale& scale,
                  const ValueTables& tables, DType dtype, std::byte* out);
/// The same from the tables alone.
void look_up_values(const std::uint8_t* values, std::size_t count, std::size_t channel, const ValueTables& tables,
                    DType dtype, std::byte* out);

}  // namespace imgpack
