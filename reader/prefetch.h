// Bringing memory into the processor's caches before it is asked for. Nothing is written, nothing read but the header
// of a segment index, and every function returns at once; what is to be brought may lie anywhere.
//
// All that only prefetch are inlined always: GCC takes a function that only prefetches for one without effects, and
// leaves out calls of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/image.h"
#include "codec/jpeg/frame.h"
#include "codec/jpeg/segment_format.h"
#include "imgpack/record.h"
#include "mmap/little_endian.h"

namespace imgpack {

/// Every line of it.
[[gnu::always_inline]] inline void prefetch(std::span<const std::byte> bytes) noexcept {
  constexpr std::uintptr_t kLine = 64;
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  for (std::uintptr_t at = begin / kLine * kLine; at < begin + bytes.size(); at += kLine) {
    __builtin_prefetch(reinterpret_cast<const void*>(at));
  }
}

/// At most `count` of the bytes from `begin` on.
inline std::span<const std::byte> part_of(std::span<const std::byte> bytes, std::size_t begin, std::size_t count) {
  const std::size_t from = begin < bytes.size() ? begin : bytes.size();
  return bytes.subspan(from, count < bytes.size() - from ? count : bytes.size() - from);
}

// What planning an image reads of its record, in three steps: where a record is cold, each is a cache miss or several,
// and a miss of the TLB, which holds up even the prefetching thread unless the next miss is asked for meanwhile. So a
// step is best taken for several records in a row, and what it brings used a while later.

/// The beginnings of the payload and of the segment index.
[[gnu::always_inline]] inline void prefetch_record(const RecordBytes& bytes) noexcept {
  prefetch(part_of(bytes.payload, 0, 1));
  prefetch(part_of(bytes.segments, 0, jpeg::kIndexHeaderSize + jpeg::kMaxComponents * jpeg::kIndexComponentSize + 1));
}

/// The JPEG file's tables, which the index knows to be shortly before the scan. Reads of what prefetch_record() brings.
[[gnu::always_inline]] inline void prefetch_tables(const RecordBytes& bytes) noexcept {
  constexpr std::size_t kMost = 1024;  // bytes; a usual file has 400
  constexpr std::size_t kMarker = 5;   // bytes of a marker segment before its first table
  if (bytes.segments.size() < jpeg::kIndexHeaderSize + jpeg::kIndexComponentSize) return;
  const std::size_t begin =
      load_le<std::uint32_t>(bytes.segments.data() + jpeg::kIndexHeaderSize + jpeg::kQuantOffsetAt);
  const std::size_t end = load_le<std::uint32_t>(bytes.segments.data() + jpeg::kScanOffsetAt);
  if (begin < kMarker || begin >= end) return;
  const std::size_t count = end - begin + kMarker;
  prefetch(part_of(bytes.payload, begin - kMarker, count < kMost ? count : kMost));
}

/// Of a segment index its last entry, and the entries where a part of the image begins and ends, about: they are of one
/// size, and come row by row. `height`: of the image, not 0.
[[gnu::always_inline]] inline void prefetch_entries(const RecordBytes& bytes, const Rect& part,
                                                    std::uint32_t height) noexcept {
  constexpr std::size_t kAbout = 96;  // bytes
  const std::size_t size = bytes.segments.size();
  if (size == 0) return;
  prefetch(part_of(bytes.segments, size * part.y / height, kAbout));
  prefetch(part_of(bytes.segments, size * (std::size_t{part.y} + part.height) / height, kAbout));
  prefetch(part_of(bytes.segments, size - 1, 1));
}

}  // namespace imgpack
