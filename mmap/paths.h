// Paths: what they lead to, names beside them, and errors about them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "imgpack/error.h"

namespace imgpack {

enum class PathKind : std::uint8_t {
  none,  ///< nothing is there
  file,  ///< a regular file
  folder,
  other,  ///< FIFO, device, socket
};

/// What `path` leads to, symbolic links followed. Throws io where that cannot be told: permission, a loop of links, a
/// name that is too long.
PathKind path_kind(const std::filesystem::path& path);
/// The same, with `none` where it cannot be told.
PathKind path_kind_or_none(const std::filesystem::path& path) noexcept;

inline bool path_exists(const std::filesystem::path& path) {
  return path_kind(path) != PathKind::none;
}

/// "out.rec", ".journal" -> "out.rec.journal".
std::filesystem::path with_suffix(const std::filesystem::path& path, std::string_view suffix);

/// The folder that `path` lies in: "." for a bare name.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// An error's place: a file, and an offset in it where that is known.
inline ErrorPlace in_file(const std::filesystem::path& file, std::optional<std::uint64_t> offset = std::nullopt) {
  return {.file = file.native(), .record = std::nullopt, .offset = offset};
}

}  // namespace imgpack
