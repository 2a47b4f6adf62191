// The device's part of gathering: one block of threads copies one range of units.
#pragma once

#include <cstdint>

namespace imgpack::gpu {

inline constexpr int kGatherThreads = 256;
inline constexpr int kGatherUnroll = 8;  ///< loads of 16 bytes that each thread has under way

/// Of a 16-byte block that is not wholly in the range: one byte a thread, so that it is one request. Threads `base` to
/// `base` + 15 take part.
struct EdgeByte {
  std::byte value{};
  std::byte* to = nullptr;

  __device__ void load(const std::byte* source, std::byte* destination, std::uint64_t bytes, std::uint32_t unit,
                       int base) {
    const int lane = static_cast<int>(threadIdx.x) - base;
    if (lane < 0 || lane >= 16) return;
    const auto shift = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(source) % 16);
    const std::int64_t at = std::int64_t{unit} * 16 + lane - shift;
    if (at < 0 || at >= static_cast<std::int64_t>(bytes)) return;
    value = source[at];
    to = destination + at;
  }
  __device__ void store() const {
    if (to != nullptr) *to = value;
  }
};

/// Units [first, end) of the range of `bytes` bytes at `source`, counted from the 16-byte block that holds its first
/// byte. Warps begin at lines of 128 bytes, so that each of their requests is one over the bus. REQUIRES:
/// kGatherThreads threads; addresses that are congruent modulo 16.
__device__ inline void copy_units(const std::byte* source, std::byte* destination, std::uint64_t bytes,
                                  std::uint32_t first, std::uint32_t end) {
  const auto address = reinterpret_cast<std::uintptr_t>(source);
  const auto shift = static_cast<std::uint32_t>(address % 16);
  const auto last = static_cast<std::uint32_t>((shift + bytes) / 16);  // the first unit that is not full
  EdgeByte edge;
  if (first == 0 && shift != 0) edge.load(source, destination, bytes, 0, 0);
  const bool ends_within = (shift + bytes) % 16 != 0 && (last != 0 || shift == 0);
  if (ends_within && last >= first && last < end) edge.load(source, destination, bytes, last, 32);

  const std::int64_t begin = first == 0 && shift != 0 ? 1 : first;
  const std::int64_t stop = end < last ? end : last;
  const uint4* const from = reinterpret_cast<const uint4*>(address - shift);
  uint4* const to = reinterpret_cast<uint4*>(destination - shift);
  const std::int64_t lead = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(from + begin) / 16 % 8);
  constexpr int kStep = kGatherThreads * kGatherUnroll;
  for (std::int64_t at = begin - lead + static_cast<int>(threadIdx.x); at < stop; at += kStep) {
    uint4 units[kGatherUnroll];
#pragma unroll
    for (int k = 0; k < kGatherUnroll; ++k) {
      const std::int64_t unit = at + k * kGatherThreads;
      if (unit >= begin && unit < stop) units[k] = __ldcs(from + unit);
    }
#pragma unroll
    for (int k = 0; k < kGatherUnroll; ++k) {
      const std::int64_t unit = at + k * kGatherThreads;
      if (unit >= begin && unit < stop) to[unit] = units[k];
    }
  }
  edge.store();
}

}  // namespace imgpack::gpu
