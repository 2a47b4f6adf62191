// The inner loops of PixelConverter, for whatever vector instructions the processor has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "imgpack/batch.h"
#include "reader/augment/value_tables.h"

namespace imgpack {

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

// Streaming: stores that go past the caches, so that memory need not be read before it is written. For what is not read
// soon; after the last of them, end_streaming() makes them visible to other threads in order.

/// Copies. REQUIRES: `out` is aligned to kStreamAlignment, and `count` a multiple of it.
void stream_row(const std::uint8_t* values, std::size_t count, std::uint8_t* out);
inline constexpr std::size_t kStreamAlignment = 32;
void end_streaming();

/// Pixels from right to left. REQUIRES: no overlap; what stream_row() requires if `stream`.
void flip_row(const std::uint8_t* rgb, std::size_t width, bool stream, std::uint8_t* out);
/// Packed pixels to a row of each plane, from right to left if `flip`.
void split_row(const std::uint8_t* rgb, std::size_t width, bool flip, std::uint8_t* r, std::uint8_t* g,
               std::uint8_t* b);

/// Which values a row consists of: of one channel 0, 1 or 2, or of packed pixels.
inline constexpr std::size_t kPacked = 3;

/// `count` values to `dtype`, which is not u8, by arithmetic. REQUIRES: a multiple of 3 of packed ones; if `stream`,
/// that `out` and the bytes written are multiples of kWideStreamAlignment.
void scale_values(const std::uint8_t* values, std::size_t count, std::size_t channel, const FastScale& scale,
                  const ValueTables& tables, DType dtype, bool stream, std::byte* out);
inline constexpr std::size_t kWideStreamAlignment = 64;
/// The same from the tables alone, and never streaming.
void look_up_values(const std::uint8_t* values, std::size_t count, std::size_t channel, const ValueTables& tables,
                    DType dtype, std::byte* out);

}  // namespace imgpack
