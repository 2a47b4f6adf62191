#include "measure/cold_cache.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/storage_kind.h"

namespace imgpack::measure {

namespace fs = std::filesystem;

namespace {

/// Pages that another CPU is about to put on the kernel's lists escape a single call.
constexpr int kTries = 3;

/// mincore() tells the truth only to who owns the file or may write it.
bool residency_shows(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return true;
  return status.st_uid == ::geteuid() || ::eaccess(file.c_str(), W_OK) == 0;
}

std::string obstacle_of(const fs::path& file, std::uint64_t left) {
  const Storage storage = storage_of(file);
  if (storage.kind == StorageKind::memory && storage.device.empty()) {
    return fmt::format("{} keeps its files in memory: nothing can be evicted", storage.filesystem);
  }
  if (!residency_shows(file)) {
    return "whether it worked is unknown: the system tells the residency of a file only to its owner and to those who "
           "may write it";
  }
  return fmt::format("{} bytes of {} stay in memory: another process has them mapped, or {} does not give them up",
                     left, file.filename().string(), storage.filesystem);
}

}  // namespace

Residency residency_of(std::span<const fs::path> files) {
  Residency sum;
  for (const fs::path& file : files) {
    const Residency one = page_cache_residency(file);
    sum.resident_bytes += one.resident_bytes;
    sum.total_bytes += one.total_bytes;
  }
  return sum;
}

Eviction evict(std::span<const fs::path> files) {
  Eviction result;
  for (const fs::path& file : files) {
    const Residency before = page_cache_residency(file);
    Residency after = before;
    for (int attempt = 0; attempt < kTries && after.resident_bytes != 0; ++attempt) {
      evict_from_page_cache(file);
      after = page_cache_residency(file);
    }
    if (after.resident_bytes != 0 && result.obstacle.empty()) result.obstacle = obstacle_of(file, after.resident_bytes);
    result.before.resident_bytes += before.resident_bytes;
    result.before.total_bytes += before.total_bytes;
    result.after.resident_bytes += after.resident_bytes;
    result.after.total_bytes += after.total_bytes;
  }
  return result;
}

}  // namespace imgpack::measure
