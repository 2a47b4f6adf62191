// Small helpers of all scans for names that come from outside (file names are bytes, dataset metadata is UTF-8) and for
// errors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "imgpack/error.h"

namespace imgpack {

bool is_utf8(std::string_view text) noexcept;

/// `text` with bytes that are not UTF-8 and control characters as \xNN: for messages, class names and split names.
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
