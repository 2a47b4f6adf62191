// Getting the files of a dataset out of the page cache, and checking that it worked.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "mmap/page_cache.h"

namespace imgpack::measure {

/// What an attempt to evict files has come to.
struct Eviction {
  Residency before;      ///< all files together
  Residency after;       ///< as mincore() tells; 0 resident bytes where it worked
  std::string obstacle;  ///< why something is left; empty if nothing is

  bool complete() const noexcept { return after.resident_bytes == 0 && obstacle.empty(); }
};

/// Of all files together. Throws not_found or io.
Residency residency_of(std::span<const std::filesystem::path> files);

/// Writes back and drops what the page cache has of the files. What cannot be dropped is reported, not thrown: files in
/// memory (tmpfs), pages that some process has mapped, this one included, and files whose residency the system hides.
/// Names and inodes of the files stay cached. Throws not_found or io. Takes a few system calls a file.
Eviction evict(std::span<const std::filesystem::path> files);

}  // namespace imgpack::measure
