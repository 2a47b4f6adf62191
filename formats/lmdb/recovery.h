// What of an interrupted build's file can be kept.
#pragma once

#include <cstdint>
#include <filesystem>

#include "mmap/file.h"

namespace imgpack::lmdb {

struct Recovered {
  std::uint64_t records = 0;  ///< leading records of the log whose payloads are whole in the file
  bool index_begun = false;   ///< named databases exist: the interrupted build had seen its last record
};

/// Checks the whole file at `path` against the log: every page of its trees, every payload's checksum. Goes back to the
/// snapshot before the newest one if the log does not reach as far as that. If neither can be kept, removes the file
/// and returns 0 records. Throws io.
Recovered recover_file(const std::filesystem::path& path, const File& log, unsigned key_digits);

}  // namespace imgpack::lmdb
