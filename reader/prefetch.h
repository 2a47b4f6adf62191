// Bringing memory into the processor's caches before it is asked for. Nothing is read or written, and every function
// returns at once; an address may be any.
//
// All are inlined always: GCC takes a function that only prefetches for one without effects, and leaves out calls of
// it.
#pragma once

#include <cstddef>
#include <span>

#include "imgpack/record.h"

namespace imgpack {

[[gnu::always_inline]] inline void prefetch(std::span<const std::byte> bytes) noexcept {
  constexpr std::size_t kLine = 64;
  for (std::size_t at = 0; at < bytes.size(); at += kLine) __builtin_prefetch(bytes.data() + at);
}

/// The beginnings of a record's payload and segment index. Records are in random order, so that each begins with cache
/// misses, and parsing a header meets one after the other: several hundred nanoseconds, as much as all the rest of
/// planning an image.
[[gnu::always_inline]] inline void prefetch_record(const RecordBytes& bytes) noexcept {
  constexpr std::size_t kMarkers = 704;      // of a usual JPEG file up to its scan
  constexpr std::size_t kIndexHeader = 128;  // of its segment index
  prefetch(bytes.payload.first(bytes.payload.size() < kMarkers ? bytes.payload.size() : kMarkers));
  prefetch(bytes.segments.first(bytes.segments.size() < kIndexHeader ? bytes.segments.size() : kIndexHeader));
}

}  // namespace imgpack
