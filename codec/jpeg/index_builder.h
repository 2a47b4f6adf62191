// Making the segment index of a JPEG file: one pass over its scan that notes where segments begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "codec/jpeg/parser.h"
#include "mmap/byte_buffer.h"

namespace imgpack::jpeg {

struct IndexOptions {
  /// The index may take this share of the file's entropy-coded bytes, above 0 and at most 1; segments become as short
  /// as that allows.
  double share = 1.0 / 54;
  /// But no shorter than this many blocks.
  std::uint32_t min_blocks = 12;
  /// Exactly so many MCUs a segment, whatever the share; 0: as above. For measurements.
  std::uint32_t segment_mcus = 0;
};

/// Makes indexes, in one pass over each file's scan. Not thread-safe; keeps memory and tables from file to file.
class IndexBuilder {
 public:
  IndexBuilder();
  ~IndexBuilder();
  IndexBuilder(IndexBuilder&&) noexcept;
  IndexBuilder& operator=(IndexBuilder&&) noexcept;

  /// `out` is empty unless the result is `indexable`: then the file was found to decode without a single complaint. The
  /// same bytes for the same file and options. Memory: 12 bytes a segment, of which there are no more than the scan's
  /// bytes allow, whatever size the header says. Throws std::bad_alloc.
  Indexability build(std::span<const std::byte> file, const IndexOptions& options, ByteBuffer& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace imgpack::jpeg
