#include "tests/support/files.h"

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <unistd.h>

namespace imgpack::testing {

namespace fs = std::filesystem;

TempDir::TempDir() {
  std::string pattern = (fs::temp_directory_path() / "imgpack-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<std::byte> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  std::vector<std::byte> bytes(static_cast<std::size_t>(in.tellg()));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return bytes;
}

void write_file(const fs::path& path, std::span<const std::byte> bytes) {
  if (path.has_parent_path()) fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

void write_file(const fs::path& path, std::string_view text) {
  write_file(path, as_bytes(text));
}

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> bytes_from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) throw std::invalid_argument("an odd number of digits");
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned value = 0;
    const auto [end, code] = std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
    if (code != std::errc() || end != hex.data() + i + 2) throw std::invalid_argument("not a digit");
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

fs::path external_data() {
  const char* folder = std::getenv("IMGPACK_TEST_DATA");
  return folder == nullptr ? fs::path() : fs::path(folder);
}

}  // namespace imgpack::testing
