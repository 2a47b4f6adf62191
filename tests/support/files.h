// Temporary folders and whole-file reads and writes for tests.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace imgpack::testing {

/// A new folder under the system's temporary folder, removed with all its content when destroyed.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

std::vector<std::byte> read_file(const std::filesystem::path& path);
/// Creates parent folders as needed.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file(const std::filesystem::path& path, std::string_view text);
std::span<const std::byte> as_bytes(std::string_view text);
std::string_view as_text(std::span<const std::byte> bytes);
/// Two digits a byte, nothing else.
std::vector<std::byte> bytes_from_hex(std::string_view hex);

/// The folder that IMGPACK_TEST_DATA names, or an empty path. Tests that use it say with MESSAGE when they can't.
std::filesystem::path external_data();

}  // namespace imgpack::testing
