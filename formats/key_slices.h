// All keys of a sequence in the order of their hashes, in bounded memory and without a temporary file: the hash space
// is cut into slices, and the keys are gone through once a slice. For checks, where no place to write can be assumed.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "formats/columns.h"

namespace imgpack {

struct HashedRecord {
  KeyHash hash;
  std::uint64_t record;
  auto operator<=>(const HashedRecord&) const = default;
};

/// Calls `key_of(record)` for every record, once a slice, and `visit(entries)` with each slice's entries sorted by
/// (hash, record). Slices come in the order of hashes and hold about a million records at most. `visit` returns false
/// to stop.
template <typename KeyOf, typename Visit>
void visit_key_slices(std::uint64_t records, KeyOf&& key_of, Visit&& visit) {
  constexpr std::uint64_t kRecordsPerSlice = 1u << 20;
  const std::uint64_t slices = std::bit_ceil(std::max<std::uint64_t>(1, records / kRecordsPerSlice));
  const int bits = std::countr_zero(slices);
  std::vector<HashedRecord> entries;
  entries.reserve(static_cast<std::size_t>(std::min(records, kRecordsPerSlice + kRecordsPerSlice / 8)));
  for (std::uint64_t slice = 0; slice < slices; ++slice) {
    entries.clear();
    for (std::uint64_t record = 0; record < records; ++record) {
      const KeyHash hash = hash_key(key_of(record));
      if (bits == 0 || hash.high >> (64 - bits) == slice) entries.push_back({.hash = hash, .record = record});
    }
    std::sort(entries.begin(), entries.end());
    if (!visit(static_cast<const std::vector<HashedRecord>&>(entries))) return;
  }
}

}  // namespace imgpack
