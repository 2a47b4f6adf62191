// Making a finished file appear under its name at once or not at all, and keeping two builders apart.
#pragma once

#include <filesystem>
#include <optional>

#include "mmap/file.h"

namespace imgpack {

/// Syncs `temporary` (data and size), renames it over `final_path` and syncs the folder. With `overwrite` false an
/// existing `final_path` is never replaced, also not by a race: throws already_exists.
void publish_file(const std::filesystem::path& temporary, const std::filesystem::path& final_path, bool overwrite);

/// Removes a file if it is there. Never throws.
void remove_quietly(const std::filesystem::path& path) noexcept;

/// An exclusive advisory lock (flock) on a file that also carries content. Move-only; released when destroyed.
///
/// The file is created if needed. If another process holds it, throws busy at once. Takes care of the race in which the
/// holder removes the file between our open and our lock. A child made by fork() shares the lock until it ends or
/// executes another program.
class LockedFile {
 public:
  static LockedFile acquire(const std::filesystem::path& path);
  File& file() noexcept { return file_; }
  /// Removes the name while the lock is still held.
  void remove() noexcept;

 private:
  explicit LockedFile(File file) noexcept : file_(std::move(file)) {}
  File file_;
};

}  // namespace imgpack
