#include "tools/output_file.h"

#include "imgpack/error.h"
#include "mmap/file.h"
#include "mmap/publish.h"

namespace imgpack::tools {

void check_output(const std::filesystem::path& path, bool overwrite) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::symlink_status(path, ignored);
  if (!std::filesystem::exists(status)) return;
  if (!overwrite || std::filesystem::is_directory(status)) {
    throw Error(ErrorCode::already_exists,
                std::filesystem::is_directory(status) ? "it is a folder; choose another name"
                                                      : "it exists; --overwrite replaces it",
                {.file = path.string(), .record = std::nullopt, .offset = std::nullopt});
  }
}

void write_output(const std::filesystem::path& path, std::span<const std::byte> content, bool overwrite) {
  check_output(path, overwrite);
  std::filesystem::path temporary = path;
  temporary += ".partial";
  LockedFile lock = LockedFile::acquire(temporary);
  try {
    lock.file().truncate(0);
    lock.file().write_at(0, content);
    publish_file(temporary, path, overwrite);
  } catch (...) {
    lock.remove();
    throw;
  }
}

}  // namespace imgpack::tools
