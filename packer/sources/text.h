// Small helpers of all scans: names in messages, names of sources, places of errors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "formats/text.h"
#include "imgpack/error.h"

namespace imgpack {

/// `text` for a message: printable_utf8() with control characters as \xNN too, so that it stays on its line.
std::string printable(std::string_view text);

/// For DatasetInfo::source_name: the last component of what `path` resolves to, printable.
std::string source_name_of(const std::filesystem::path& path);

/// An error's place: a file, and an offset in it where that is known.
inline ErrorPlace in_file(const std::filesystem::path& file, std::optional<std::uint64_t> offset = std::nullopt) {
  return {.file = file.native(), .record = std::nullopt, .offset = offset};
}

/// ASCII letters in lower case, whatever the locale; other bytes as they are.
std::string ascii_lower(std::string_view text);

}  // namespace imgpack
