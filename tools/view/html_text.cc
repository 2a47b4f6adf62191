#include "tools/view/html_text.h"

#include <cstdint>

#include <fmt/format.h>

#include "tools/text.h"

namespace imgpack::tools {

std::string html(std::string_view text) {
  const std::string plain = printable(text);
  std::string out;
  out.reserve(plain.size());
  for (const char character : plain) {
    switch (character) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += character;
    }
  }
  return out;
}

std::string script_json(const Json& document) {
  const std::string text = document.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (const char character : text) {
    // Outside of strings JSON has none of these.
    if (character == '<' || character == '>' || character == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(character));
    } else {
      out += character;
    }
  }
  return out;
}

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    std::uint32_t group = std::to_integer<std::uint32_t>(bytes[i]) << 16;
    if (left > 1) group |= std::to_integer<std::uint32_t>(bytes[i + 1]) << 8;
    if (left > 2) group |= std::to_integer<std::uint32_t>(bytes[i + 2]);
    out += kDigits[group >> 18];
    out += kDigits[group >> 12 & 63];
    out += left > 1 ? kDigits[group >> 6 & 63] : '=';
    out += left > 2 ? kDigits[group & 63] : '=';
  }
  return out;
}

}  // namespace imgpack::tools
