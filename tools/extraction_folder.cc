#include "tools/extraction_folder.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "imgpack/error.h"
#include "mmap/system_error.h"
#include "tools/key_path.h"

namespace imgpack::tools {

namespace fs = std::filesystem;

namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

File open_root(const fs::path& path) {
  std::error_code failure;
  fs::create_directories(path, failure);
  if (failure && !fs::is_directory(path)) throw system_error(failure.value(), "make the folder", path);
  const int descriptor = ::open(path.c_str(), kFolderFlags);
  if (descriptor < 0) throw system_error(errno, "open the folder", path);
  return File(descriptor, path);
}

}  // namespace

ExtractionFolder::ExtractionFolder(fs::path path, bool overwrite)
    : path_(std::move(path)), overwrite_(overwrite), root_(open_root(path_)) {}

fs::path ExtractionFolder::path_of(std::string_view key) const {
  return path_.string() + "/" + std::string(key);
}

/// Opens the folders one by one, keeping those that are open from the last call. Returns what is in the way, if
/// anything.
std::string ExtractionFolder::enter(const std::vector<std::string>& folders, std::string_view key) {
  std::size_t same = 0;
  while (same < open_.size() && same < folders.size() && open_[same].name == folders[same]) ++same;
  open_.resize(same);
  for (std::size_t i = same; i < folders.size(); ++i) {
    const std::string& name = folders[i];
    const int parent = innermost().descriptor();
    if (::mkdirat(parent, name.c_str(), 0777) != 0 && errno != EEXIST) {
      throw system_error(errno, "make its folder", path_of(key));
    }
    const int descriptor = ::openat(parent, name.c_str(), kFolderFlags | O_NOFOLLOW);
    if (descriptor < 0 && (errno == ENOTDIR || errno == ELOOP)) {
      return fmt::format("'{}' on its way is there already and is no folder (links are not followed)", name);
    }
    if (descriptor < 0) throw system_error(errno, "open its folder", path_of(key));
    open_.push_back({.name = name, .folder = File(descriptor, path_of(key))});
  }
  return {};
}

/// Takes away what may be replaced. Returns what is in the way, if anything.
std::string ExtractionFolder::make_room(const std::string& name, std::string_view key) {
  struct stat status {};
  if (::fstatat(innermost().descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    throw system_error(errno, "look for", path_of(key));
  }
  if (S_ISDIR(status.st_mode)) return "a folder of that name is there already";
  if (!overwrite_) throw system_error(EEXIST, "write", path_of(key));
  // The name is removed, not what it leads to: a link's target stays as it is.
  if (::unlinkat(innermost().descriptor(), name.c_str(), 0) != 0 && errno != ENOENT) {
    throw system_error(errno, "replace", path_of(key));
  }
  return {};
}

std::string ExtractionFolder::write(std::string_view key, std::span<const std::byte> content) {
  KeyPath path = split_key(key);
  if (!path.problem.empty()) return path.problem;
  if (std::string problem = enter(path.folders, key); !problem.empty()) return problem;

  constexpr int kFileFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const int parent = innermost().descriptor();
  int descriptor = ::openat(parent, path.name.c_str(), kFileFlags, 0666);
  if (descriptor < 0 && errno == EEXIST) {
    if (std::string problem = make_room(path.name, key); !problem.empty()) return problem;
    descriptor = ::openat(parent, path.name.c_str(), kFileFlags, 0666);
  }
  if (descriptor < 0) throw system_error(errno, "create", path_of(key));
  File file(descriptor, path_of(key));
  try {
    file.write_at(0, content);
    file.close();
  } catch (...) {
    ::unlinkat(parent, path.name.c_str(), 0);
    throw;
  }
  return {};
}

}  // namespace imgpack::tools
