// Files that a command writes for people: tables, figures, pages.
#pragma once

#include <filesystem>
#include <string_view>

namespace imgpack::tools {

/// Throws already_exists if `path` is there and may not be replaced, so that nobody finds out after hours.
void check_report_file(const std::filesystem::path& path, bool overwrite);

/// Writes `text` at `path`, which appears as a whole or not at all. Throws already_exists, not_found (its folder) or
/// io.
void write_report_file(const std::filesystem::path& path, std::string_view text, bool overwrite);

}  // namespace imgpack::tools
