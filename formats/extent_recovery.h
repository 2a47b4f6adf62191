// What backends that append payloads to a plain file share: finding out after an interruption how much of it can be
// kept.
#pragma once

#include <cstdint>
#include <functional>

#include "formats/record_log.h"
#include "mmap/file.h"

namespace imgpack {

struct RecoveredExtent {
  std::uint64_t records = 0;
  std::uint64_t end = 0;  ///< where the last of them ends; `begin` if there is none
};

/// Walks the log's record rows in order. `place` gives where a row's bytes must be, given where the row before ended; a
/// row whose own places differ ends the walk, as does one whose payload and segments (if in the file) do not have the
/// row's checksum, or bytes other than zero between records. Reads all that is kept once.
struct RecordExtent {
  std::uint64_t payload_offset = 0;
  std::uint64_t segments_offset = 0;  ///< only used if segments_in_file
  bool segments_in_file = false;
  std::uint64_t end = 0;
};
RecoveredExtent recover_extents(const File& log, const File& data, std::uint64_t begin,
                                const std::function<RecordExtent(const LogRow& row, std::uint64_t end_before)>& place);

}  // namespace imgpack
