// From an entry of a source to a record, or to the reason why it is none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "imgpack/record.h"
#include "mmap/byte_buffer.h"
#include "packer/source.h"

namespace imgpack {

/// An entry on its way into a store. Reused from entry to entry, for its memory.
struct PreparedEntry {
  enum class Outcome : std::uint8_t {
    record,
    refused,  ///< can't be packed
    ignored,  ///< no image, and not named like one
  };

  SourceEntry entry;
  Outcome outcome = Outcome::record;
  std::string reason;  ///< unless it is a record
  RecordMeta meta;
  SourceBytes bytes;
  ByteBuffer scratch;  ///< what `bytes` may point into
};

struct PrepareOptions {
  std::uint64_t max_pixels = 0;
};

/// Reads entry `index` of `source` and finds out what it is. Throws only if the machine fails. Thread-safe for
/// different `out`.
void prepare_entry(const Source& source, std::uint64_t index, const PrepareOptions& options, PreparedEntry& out);

}  // namespace imgpack
