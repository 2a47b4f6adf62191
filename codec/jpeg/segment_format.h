// The bytes of a segment index, as SEGMENTS.md says them: offsets within its header and within a component's part of
// it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace imgpack::jpeg {

inline constexpr std::uint8_t kSegmentIndexVersion = 1;

inline constexpr std::size_t kVersionAt = 0;
inline constexpr std::size_t kColorAt = 1;
inline constexpr std::size_t kSegmentMcusAt = 2;
inline constexpr std::size_t kWidthAt = 4;
inline constexpr std::size_t kHeightAt = 6;
inline constexpr std::size_t kRestartIntervalAt = 8;
inline constexpr std::size_t kPositionBitsAt = 10;
inline constexpr std::size_t kComponentCountAt = 11;
inline constexpr std::size_t kScanOffsetAt = 12;
inline constexpr std::size_t kScanSizeAt = 16;
inline constexpr std::size_t kIndexHeaderSize = 20;

inline constexpr std::size_t kSamplingAt = 0;
inline constexpr std::size_t kQuantFlagAt = 1;
inline constexpr std::size_t kDcBitsAt = 2;
inline constexpr std::size_t kReservedByteAt = 3;
inline constexpr std::size_t kDcBaseAt = 4;
inline constexpr std::size_t kReservedAt = 6;
inline constexpr std::size_t kQuantOffsetAt = 8;
inline constexpr std::size_t kDcOffsetAt = 12;
inline constexpr std::size_t kAcOffsetAt = 16;
inline constexpr std::size_t kIndexComponentSize = 20;

}  // namespace imgpack::jpeg
