#include "mmap/paths.h"

#include <cerrno>
#include <string>

#include <sys/stat.h>

#include "mmap/system_error.h"

namespace imgpack {

namespace {

PathKind kind_of(const struct stat& status) noexcept {
  if (S_ISREG(status.st_mode)) return PathKind::file;
  return S_ISDIR(status.st_mode) ? PathKind::folder : PathKind::other;
}

}  // namespace

PathKind path_kind(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return kind_of(status);
  if (errno == ENOENT || errno == ENOTDIR) return PathKind::none;
  throw system_error(errno, "look at", path);
}

PathKind path_kind_or_none(const std::filesystem::path& path) noexcept {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? kind_of(status) : PathKind::none;
}

std::filesystem::path with_suffix(const std::filesystem::path& path, std::string_view suffix) {
  return path.native() + std::string(suffix);
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

}  // namespace imgpack
