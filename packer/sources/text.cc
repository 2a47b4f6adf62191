#include "packer/sources/text.h"

#include <system_error>

#include <fmt/format.h>

namespace imgpack {

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

}  // namespace imgpack
