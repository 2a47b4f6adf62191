// How kernels' blocks are spread over tasks of different sizes: block b does part `part` of task `task`.
#pragma once

#include <cstdint>

namespace imgpack::gpu {

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
