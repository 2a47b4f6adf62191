// Ranges of bytes for the device to gather, and their division among its blocks of threads. No CUDA here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace imgpack::gpu {

/// Bytes that are read by the device through `source` and written to `destination`; addresses of the device, congruent
/// modulo kGatherUnit.
struct GatherRange {
  const std::byte* source = nullptr;
  std::byte* destination = nullptr;
  std::uint64_t bytes = 0;
};

/// One block's share of a range: units of kGatherUnit bytes, counted from the unit that holds the range's first byte.
struct GatherPiece {
  std::uint32_t range = 0;
  std::uint32_t first_unit = 0;
  std::uint32_t units = 0;
};

inline constexpr std::size_t kGatherUnit = 16;
/// Pieces after the first of a range begin at multiples of this address: what one request over PCI Express brings.
inline constexpr std::size_t kGatherLine = 128;
inline constexpr std::size_t kGatherPiece = 32u << 10;

/// Where in [0, kGatherUnit) something that is to be gathered from `source` has to lie, beyond a multiple of it.
inline std::size_t gather_shift(const std::byte* source) noexcept {
  return reinterpret_cast<std::uintptr_t>(source) % kGatherUnit;
}

/// Appends the pieces of `ranges`, of at most `piece_bytes` (a multiple of kGatherLine); `first` is the number of the
/// first range. Empty ranges have none. REQUIRES: no range has 64 GiB.
void append_pieces(std::span<const GatherRange> ranges, std::vector<GatherPiece>& pieces, std::uint32_t first = 0,
                   std::size_t piece_bytes = kGatherPiece);

}  // namespace imgpack::gpu
