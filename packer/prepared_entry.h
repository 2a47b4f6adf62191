// An entry on its way from a source into a store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "codec/image.h"
#include "imgpack/record.h"
#include "mmap/byte_buffer.h"
#include "packer/source.h"

namespace imgpack {

/// Reused from entry to entry, for its memory.
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
  SourceBytes bytes;  ///< in the source's own memory or in one of the following

  ByteBuffer scratch;  ///< the source's bytes
  ByteBuffer payload;  ///< what was made of them
  ByteBuffer segments;
  RgbImage pixels;

  std::uint64_t memory() const noexcept {
    return scratch.size() + payload.size() + segments.size() + pixels.bytes().size();
  }
  /// Gives memory beyond `limit` bytes a buffer back.
  void trim(std::size_t limit) noexcept {
    scratch.trim(limit);
    payload.trim(limit);
    segments.trim(limit);
    pixels.trim(limit);
  }
};

}  // namespace imgpack
