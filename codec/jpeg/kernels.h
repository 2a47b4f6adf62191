// The inner loops of decoding on the host, for whatever vector instructions the processor has. They give what idct.h
// and color.h say, sample for sample.
#pragma once

#include <cstddef>
#include <cstdint>

namespace imgpack::jpeg {

/// Blocks are transformed in pairs; the rows of a pair's coefficients alternate: row r of block b at r * 16 + b * 8.
inline constexpr std::size_t kPair = 2;
inline constexpr std::size_t kPairStride = kPair * 8;

/// Where a block's samples go: 8 rows of 8.
struct BlockTarget {
  std::uint8_t* out = nullptr;
  std::size_t stride = 0;
};

/// `coefficients` is aligned to 32 bytes.
void inverse_dct_pair(const std::int16_t* coefficients, const BlockTarget (&targets)[kPair]);

// Rows of samples. Inputs may be read, and outputs written, up to kRowSlack bytes beyond their ends.
inline constexpr std::size_t kRowSlack = 128;

/// out[0 .. 2 * count) from in[-1 .. count], upsample_h2().
void upsample_row_h2(const std::uint8_t* in, std::size_t count, std::uint8_t* out);
/// out[0 .. count), upsample_v2().
void upsample_row_v2(const std::uint8_t* near, const std::uint8_t* far, bool upper, std::size_t count,
                     std::uint8_t* out);
/// out[0 .. 2 * count) from [-1 .. count] of both rows, upsample_h2v2().
void upsample_row_h2v2(const std::uint8_t* near, const std::uint8_t* far, std::size_t count, std::uint8_t* out);
/// Each sample `times` times.
void replicate_row(const std::uint8_t* in, std::size_t times, std::size_t count, std::uint8_t* out);

// `rgb` is written for exactly count pixels.
void ycc_row_to_rgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, std::size_t count,
                    std::uint8_t* rgb);
/// Three planes to packed pixels; gray images have the same plane thrice.
void interleave_row(const std::uint8_t* r, const std::uint8_t* g, const std::uint8_t* b, std::size_t count,
                    std::uint8_t* rgb);

}  // namespace imgpack::jpeg
