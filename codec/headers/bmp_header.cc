#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "codec/headers/headers.h"
#include "mmap/little_endian.h"

namespace imgpack::headers {

namespace {

constexpr std::size_t kFileHeaderSize = 14;
constexpr std::uint32_t kCoreHeaderSize = 12;  // OS/2 1.x
constexpr std::uint32_t kMaxPaletteColours = 65536;

enum Compression : std::uint32_t { kRaw = 0, kRle8 = 1, kRle4 = 2, kBitfields = 3 };

struct InfoHeader {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint32_t bits = 0;
  std::uint32_t compression = kRaw;
  std::uint32_t colours = 0;
};

/// Channel masks in the order red, green, blue, alpha.
using Masks = std::array<std::uint32_t, 4>;

/// Channels of a bit-field image, or nothing for a layout that Pillow does not read.
std::optional<std::uint8_t> bitfield_channels(std::uint32_t bits, const Masks& masks) {
  const auto [red, green, blue, alpha] = masks;
  if (bits == 24 || bits == 16) {
    const std::array<std::uint32_t, 3> rgb = {red, green, blue};
    const bool known = bits == 24 ? rgb == std::array<std::uint32_t, 3>{0xff0000, 0xff00, 0xff}
                                  : rgb == std::array<std::uint32_t, 3>{0xf800, 0x7e0, 0x1f} ||
                                        rgb == std::array<std::uint32_t, 3>{0x7c00, 0x3e0, 0x1f};
    return known ? std::optional<std::uint8_t>(3) : std::nullopt;
  }
  if (bits != 32) return std::nullopt;
  struct Layout {
    Masks masks;
    std::uint8_t channels;
  };
  static constexpr std::array<Layout, 6> kLayouts = {{
      {{0xff0000, 0xff00, 0xff, 0}, 3},
      {{0xff000000, 0xff0000, 0xff00, 0}, 3},
      {{0xff000000, 0xff0000, 0xff00, 0xff}, 4},
      {{0xff, 0xff00, 0xff0000, 0xff000000}, 4},
      {{0xff0000, 0xff00, 0xff, 0xff000000}, 4},
      {{0, 0, 0, 0}, 4},
  }};
  for (const Layout& layout : kLayouts) {
    if (layout.masks == masks) return layout.channels;
  }
  return std::nullopt;
}

InfoHeader read_core_header(Bytes fields) {
  return {.width = load_le<std::uint16_t>(fields.data()),
          .height = load_le<std::uint16_t>(fields.data() + 2),
          .bits = load_le<std::uint16_t>(fields.data() + 6)};
}

InfoHeader read_info_header(Bytes fields) {
  InfoHeader info;
  info.width = load_le<std::uint32_t>(fields.data());
  info.height = load_le<std::uint32_t>(fields.data() + 4);
  // A negative height stands for rows from top to bottom. Pillow looks at the highest byte alone.
  if (byte_at(fields, 7) == 0xff) info.height = (std::uint64_t{1} << 32) - info.height;
  info.bits = load_le<std::uint16_t>(fields.data() + 10);
  info.compression = load_le<std::uint32_t>(fields.data() + 12);
  info.colours = load_le<std::uint32_t>(fields.data() + 28);
  return info;
}

}  // namespace

ParseResult parse_bmp_header(Bytes bytes) {
  ByteReader reader(bytes);
  const auto file_header = reader.take(kFileHeaderSize + 4);
  if (!file_header) return truncated("BMP ends inside its header");
  const auto header_size = load_le<std::uint32_t>(file_header->data() + kFileHeaderSize);
  const std::array<std::uint32_t, 5> known_sizes = {kCoreHeaderSize, 40, 64, 108, 124};
  if (std::find(known_sizes.begin(), known_sizes.end(), header_size) == known_sizes.end()) {
    return malformed(fmt::format("BMP has an unknown header of {} bytes", header_size));
  }
  const auto fields = reader.take(header_size - 4);
  if (!fields) return truncated("BMP ends inside its header");
  const InfoHeader info = header_size == kCoreHeaderSize ? read_core_header(*fields) : read_info_header(*fields);

  std::uint8_t channels = 0;
  switch (info.bits) {
    case 1:
    case 4:
    case 8:
      channels = 1;
      break;
    case 16:
    case 24:
    case 32:
      channels = 3;
      break;
    default:
      return malformed(fmt::format("BMP has {} bits a pixel, which is not supported", info.bits));
  }

  if (info.compression == kBitfields) {
    Masks masks{};
    if (fields->size() >= 52) {
      for (std::size_t i = 0; i < masks.size(); ++i) masks[i] = load_le<std::uint32_t>(fields->data() + 36 + i * 4);
    } else {
      // The masks follow the header, and there is none for alpha.
      const auto outside = reader.take(12);
      if (!outside) return truncated("BMP ends inside its colour masks");
      for (std::size_t i = 0; i < 3; ++i) masks[i] = load_le<std::uint32_t>(outside->data() + i * 4);
    }
    const std::optional<std::uint8_t> found = bitfield_channels(info.bits, masks);
    if (!found) return malformed("BMP has colour masks that are not supported");
    channels = *found;
  } else if (info.compression > kBitfields) {
    return malformed(fmt::format("BMP has compression {}, which is not supported", info.compression));
  }
  if (channels == 1 && info.colours > kMaxPaletteColours) {
    return malformed(fmt::format("BMP has a palette of {} colours", info.colours));
  }
  return ParsedHeader{info.width, info.height, channels};
}

}  // namespace imgpack::headers
