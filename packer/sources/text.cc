#include "packer/sources/text.h"

#include <cstddef>
#include <cstdint>
#include <system_error>

#include <fmt/format.h>

namespace imgpack {

namespace {

/// Length of the well-formed UTF-8 sequence at the start of `text` (Unicode 15, table 3-7); 0 if there is none.
/// REQUIRES: text is not empty.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto byte = [&text](std::size_t at) -> unsigned {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
  };
  const auto continues = [&byte](std::size_t at) { return (byte(at) & 0xc0u) == 0x80u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return continues(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const bool overlong = lead == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = lead == 0xed && byte(1) > 0x9f;
    return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const bool overlong = lead == 0xf0 && byte(1) < 0x90;
    const bool beyond = lead == 0xf4 && byte(1) > 0x8f;
    return continues(1) && continues(2) && continues(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const auto lead = static_cast<unsigned char>(text.front());
    if (length == 0 || lead < 0x20 || lead == 0x7f) {
      out += fmt::format("\\x{:02x}", lead);
      text.remove_prefix(1);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out;
}

std::string source_name_of(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::path resolved = std::filesystem::canonical(path, failed);
  if (failed) resolved = path.lexically_normal();
  if (!resolved.has_filename()) resolved = resolved.parent_path();
  return printable(resolved.filename().native());
}

std::string ascii_lower(std::string_view text) {
  std::string out(text);
  for (char& letter : out) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return out;
}

}  // namespace imgpack
