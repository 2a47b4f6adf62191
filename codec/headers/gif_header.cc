#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>

#include "codec/headers/headers.h"
#include "mmap/little_endian.h"

namespace imgpack::headers {

namespace {

constexpr std::uint8_t kGraphicControl = 0xf9;
constexpr std::uint8_t kComment = 0xfe;
constexpr std::uint8_t kApplication = 0xff;

/// A data sub-block; empty for the terminator and at the end of the file.
Bytes next_block(ByteReader& reader) {
  return reader.take_up_to(reader.next().value_or(0));
}

void skip_blocks(ByteReader& reader) {
  while (!next_block(reader).empty()) {
  }
}

std::optional<Refusal> read_extension(ByteReader& reader) {
  const std::optional<std::uint8_t> label = reader.next();
  if (!label) return truncated("GIF ends inside an extension");
  const Bytes block = next_block(reader);
  if (*label == kGraphicControl) {
    // Flags and delay, and the transparent colour if the flags announce it.
    if (block.empty() || block.size() < ((byte_at(block, 0) & 1) != 0 ? 4u : 3u)) {
      return malformed("GIF has a graphic control extension that is too short");
    }
  } else if (*label == kComment) {
    if (!block.empty()) skip_blocks(reader);
    return std::nullopt;
  } else if (*label == kApplication) {
    if (block.empty()) return malformed("GIF has an application extension without a name");
    if (starts_with(block, "NETSCAPE2.0") && next_block(reader).empty()) {
      return malformed("GIF has an animation extension without content");
    }
  }
  skip_blocks(reader);
  return std::nullopt;
}

/// The first image can be larger than the screen, which then grows.
ParseResult read_image(ByteReader& reader, ParsedHeader screen) {
  const auto descriptor = reader.take(9);
  if (!descriptor) return truncated("GIF ends inside its image descriptor");
  const auto field = [&](std::size_t offset) { return load_le<std::uint16_t>(descriptor->data() + offset); };
  screen.width = std::max<std::uint64_t>(screen.width, std::uint64_t{field(0)} + field(4));
  screen.height = std::max<std::uint64_t>(screen.height, std::uint64_t{field(2)} + field(6));
  const std::uint8_t flags = byte_at(*descriptor, 8);
  if ((flags & 0x80) != 0 && !reader.take(std::uint64_t{3} << ((flags & 7) + 1))) {
    return truncated("GIF ends inside its palette");
  }
  if (!reader.next()) return truncated("GIF ends before its pixels");
  return screen;
}

}  // namespace

ParseResult parse_gif_header(Bytes bytes) {
  ByteReader reader(bytes);
  const auto screen = reader.take(13);
  if (!screen) return truncated("GIF ends inside its header");
  const ParsedHeader size = {load_le<std::uint16_t>(screen->data() + 6), load_le<std::uint16_t>(screen->data() + 8), 1};
  const std::uint8_t flags = byte_at(*screen, 10);
  if ((flags & 0x80) != 0 && !reader.take(std::uint64_t{3} << ((flags & 7) + 1))) {
    return truncated("GIF ends inside its palette");
  }
  while (const std::optional<std::uint8_t> tag = reader.next()) {
    switch (*tag) {
      case ';':
        return malformed("GIF has no image");
      case ',':
        return read_image(reader, size);
      case '!':
        if (std::optional<Refusal> refusal = read_extension(reader)) return *std::move(refusal);
        break;
      default:
        break;  // junk between blocks
    }
  }
  return truncated("GIF ends before its first image");
}

}  // namespace imgpack::headers
