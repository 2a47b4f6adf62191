// How kernels' blocks are spread over tasks of different sizes: block b does part `part` of task `task`.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "codec/host_device.h"

namespace imgpack::gpu {

/// a / b, rounded up. REQUIRES: b > 0, and a + b - 1 has room in the type.
template <std::unsigned_integral T>
IMGPACK_HD constexpr T ceil_div(T a, std::type_identity_t<T> b) {
  return (a + b - 1) / b;
}

struct Work {
  std::uint32_t task = 0;
  std::uint32_t part = 0;
};

// What a part is, by kernel.
inline constexpr std::uint32_t kUnstuffSegments = 32;   ///< segments
inline constexpr std::uint32_t kEntropySegments = 128;  ///< segments, one a thread
inline constexpr std::uint32_t kInverseGroups = 64;     ///< groups of four blocks
inline constexpr std::uint32_t kRowsOfPass = 8;         ///< source rows of the horizontal pass
inline constexpr std::uint32_t kRowsOfCanvas = 8;       ///< canvas rows of the vertical pass

/// Source columns that the horizontal pass keeps at a time.
inline constexpr std::uint32_t kTileColumns = 512;

}  // namespace imgpack::gpu
