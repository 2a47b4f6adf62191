// What of a file is in the page cache, and getting it out of there.
#pragma once

#include <cstdint>
#include <filesystem>

namespace imgpack {

struct Residency {
  std::uint64_t resident_bytes = 0;  ///< rounded to pages, at most total_bytes
  std::uint64_t total_bytes = 0;
};

/// Asks mincore() about every page. Throws not_found or io. For files that the caller neither owns nor may write to,
/// Linux does not tell and reports every page as resident.
Residency page_cache_residency(const std::filesystem::path& path);

/// Writes dirty pages back and drops the file's pages. Pages that somebody has mapped stay: compare the residency
/// afterwards.
void evict_from_page_cache(const std::filesystem::path& path);

}  // namespace imgpack
