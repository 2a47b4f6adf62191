// The inner loops of both passes, chosen for the CPU when the program runs.
//
// A weight w has 23 bits and more, a multiplier of pairs of 16-bit numbers takes 16. So w is split into a signed low
// half and a high half, w = low + high * 65536, and the sums over both are kept apart until the end. All arithmetic is
// modulo 2^32, which the final sum fits, so nothing is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace imgpack::resampling {

/// The most rows that weigh_pixels() works on at once.
inline constexpr std::size_t kMaxRows = 4;
/// Pixels that weigh_pixels() makes at once.
inline constexpr std::uint32_t kPixelGroup = 4;
/// What weigh_pixels() may write behind the last pixel group of a row.
inline constexpr std::size_t kRowSlack = 4;
/// What weigh_pixels() reads for a pixel is kPairBytes a pair of taps and kReadSlack more, at most.
inline constexpr std::size_t kPairBytes = 6;
inline constexpr std::size_t kReadSlack = 10;

/// Weights of one position, two taps at a time.
struct WeightPair {
  std::int16_t low[2];
  std::int16_t high[2];
};

/// `weights` two by two; an even number of them.
void pack_weights(std::span<const std::int32_t> weights, std::vector<WeightPair>& out);

/// What horizontal resampling needs to know of a pixel: 3-byte pixels from byte `offset` of a row on.
struct PixelTaps {
  const std::uint32_t* offsets = nullptr;  ///< of each pixel, without those of earlier pixels exceeding it
  const WeightPair* weights = nullptr;     ///< `pairs` for each pixel
  std::uint32_t pairs = 0;
};

/// Makes pixels [begin, end) of up to kMaxRows rows; both are multiples of kPixelGroup. Byte 0 of a source is byte
/// `origin` of its row.
void weigh_pixels(const PixelTaps& taps, std::uint32_t begin, std::uint32_t end,
                  std::span<const std::uint8_t* const> sources, std::uint32_t origin,
                  std::span<std::uint8_t* const> results);

/// Makes `bytes` bytes as weighted sums of rows: two for each weight pair. Reads and writes nothing beyond them.
void weigh_rows(std::span<const WeightPair> weights, const std::uint8_t* const* rows, std::size_t bytes,
                std::uint8_t* result);

}  // namespace imgpack::resampling
