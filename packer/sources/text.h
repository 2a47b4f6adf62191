// Small helpers of all scans: names in messages, names of sources, what names say.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "formats/text.h"
#include "mmap/paths.h"

namespace imgpack {

/// `text` for a message: printable_utf8() with control characters as \xNN too, so that it stays on its line.
std::string printable(std::string_view text);

/// For DatasetInfo::source_name: the last component of what `path` resolves to, printable.
std::string source_name_of(const std::filesystem::path& path);

/// For telling layouts apart: false where it cannot be told, so that the scan says what is wrong.
inline bool is_folder(const std::filesystem::path& path) noexcept {
  return path_kind_or_none(path) == PathKind::folder;
}
inline bool is_file(const std::filesystem::path& path) noexcept {
  return path_kind_or_none(path) == PathKind::file;
}

/// ASCII letters in lower case, whatever the locale; other bytes as they are.
std::string ascii_lower(std::string_view text);

}  // namespace imgpack
