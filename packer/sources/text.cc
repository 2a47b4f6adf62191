#include "packer/sources/text.h"

#include <algorithm>
#include <array>
#include <system_error>

#include <fmt/format.h>

namespace imgpack {

namespace {

constexpr std::array<std::string_view, 13> kImageExtensions = {
    ".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp", ".gif", ".dib"};

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (const char letter : printable_utf8(text)) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += letter;
    }
  }
  return out;
}

std::string source_name_of(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::path resolved = std::filesystem::canonical(path, failed);
  if (failed) resolved = path.lexically_normal();
  if (!resolved.has_filename()) resolved = resolved.parent_path();
  return printable_utf8(resolved.filename().native());
}

std::string ascii_lower(std::string_view text) {
  std::string out(text);
  for (char& letter : out) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return out;
}

bool has_image_name(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string extension = ascii_lower(name.substr(dot));
  return std::find(kImageExtensions.begin(), kImageExtensions.end(), extension) != kImageExtensions.end();
}

}  // namespace imgpack
