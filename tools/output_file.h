// Writing a file that appears under its name only when it is whole.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace imgpack::tools {

/// Throws already_exists if `path` is there and may not be replaced.
void check_output(const std::filesystem::path& path, bool overwrite);

/// Writes `content` beside `path`, syncs it and gives it its name. Throws already_exists, busy (another process writes
/// the same), not_found (no such folder), io; then nothing is left behind.
void write_output(const std::filesystem::path& path, std::span<const std::byte> content, bool overwrite);

}  // namespace imgpack::tools
