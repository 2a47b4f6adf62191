// Small helpers for names that come from outside: file names are bytes, dataset metadata is UTF-8.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace imgpack {

bool is_utf8(std::string_view text) noexcept;

/// `text` with bytes that are not UTF-8 and control characters as \xNN: for messages, class names and split names.
std::string printable(std::string_view text);

/// For DatasetInfo::source_name: the last component of what `path` resolves to, printable.
std::string source_name_of(const std::filesystem::path& path);

/// ASCII letters in lower case, whatever the locale; other bytes as they are.
std::string ascii_lower(std::string_view text);

}  // namespace imgpack
