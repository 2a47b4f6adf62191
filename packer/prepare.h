// From an entry of a source to a record, or to the reason why it is none.
#pragma once

#include <cstdint>
#include <optional>

#include "imgpack/transform.h"
#include "packer/prepared_entry.h"
#include "packer/source.h"
#include "packer/transformer.h"

namespace imgpack {

struct PrepareOptions {
  std::uint64_t max_pixels = 0;
  std::optional<Transform> transform;  ///< nothing: bytes and segments as the source has them
};

/// Not thread-safe.
class EntryPreparer {
 public:
  /// `source` must outlive this.
  EntryPreparer(const Source& source, const PrepareOptions& options);
  /// Reads entry `index` of the source, finds out what it is, and makes of it what is to be stored. Throws only if the
  /// machine fails.
  void prepare(std::uint64_t index, PreparedEntry& out);

 private:
  void read(std::uint64_t index, PreparedEntry& out);

  const Source& source_;
  std::uint64_t max_pixels_;
  std::optional<Transformer> transformer_;
};

}  // namespace imgpack
