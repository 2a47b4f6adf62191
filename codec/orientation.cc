#include "codec/orientation.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "codec/headers/byte_reader.h"
#include "codec/headers/tiff_directory.h"
#include "mmap/little_endian.h"

namespace imgpack {

namespace {

using headers::byte_at;
using headers::ByteReader;
using headers::Bytes;
using headers::load_be;
using headers::starts_with;
using namespace std::string_view_literals;

constexpr int kUpright = 1;
constexpr std::uint16_t kOrientation = 0x0112;

/// The tag of an Exif block, with or without the "Exif" before it; nothing if there is no such tag.
std::optional<int> orientation_of_exif(Bytes exif) {
  if (starts_with(exif, "Exif\0\0"sv)) exif = exif.subspan(6);
  const headers::TiffPreamble preamble = headers::read_tiff_preamble(exif, false);
  if (preamble.status != headers::TiffPreamble::Status::ok) return kUpright;
  const headers::TiffDirectory tags(exif, preamble, {kOrientation});
  const headers::TiffValues& values = tags[kOrientation];
  if (!values.present()) return std::nullopt;
  if (!values.is_number()) return kUpright;  // superfluous values are ignored
  for (int orientation = 2; orientation <= 8; ++orientation) {
    if (values.number() == orientation) return orientation;
  }
  return kUpright;
}

/// The first Exif segment counts, wherever it stands before the first scan.
int orientation_of_jpeg(Bytes file) {
  constexpr std::uint8_t kApp1 = 0xe1;
  constexpr std::uint8_t kSos = 0xda;
  ByteReader reader(file, 2);
  bool inside_marker = false;
  while (const std::optional<std::uint8_t> byte = reader.next()) {
    if (*byte == 0xff) {
      inside_marker = true;
      continue;
    }
    const bool is_marker = inside_marker && *byte != 0;
    inside_marker = false;
    if (!is_marker || *byte == 0xc8 || (*byte >= 0xd0 && *byte <= 0xd9) || *byte < 0xc0) continue;
    if (*byte == kSos) break;
    if (*byte >= 0xf0 && *byte <= 0xfd) continue;
    const auto length = reader.take(2);
    if (!length) break;
    const auto size = load_be<std::uint16_t>(length->data());
    const auto body = reader.take(size < 2 ? 0 : size - 2);
    if (!body) break;
    if (*byte == kApp1 && starts_with(*body, "Exif\0"sv)) return orientation_of_exif(*body).value_or(kUpright);
  }
  return kUpright;
}

/// tiff:Orientation in XMP, as an attribute or as an element.
std::optional<int> orientation_of_xmp(Bytes xmp) {
  const std::string_view text(reinterpret_cast<const char*>(xmp.data()), xmp.size());
  constexpr std::string_view kName = "tiff:Orientation";
  for (std::size_t at = text.find(kName); at != text.npos; at = text.find(kName, at + 1)) {
    std::string_view rest = text.substr(at + kName.size());
    if (rest.starts_with("=\"")) {
      rest.remove_prefix(2);
    } else if (rest.starts_with(">")) {
      rest.remove_prefix(1);
    } else {
      continue;
    }
    if (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') return rest[0] - '0';
  }
  return std::nullopt;
}

/// The XMP packet of an uncompressed iTXt chunk.
std::optional<Bytes> xmp_of_text(Bytes body) {
  constexpr std::string_view kStart = "XML:com.adobe.xmp\0\0\0"sv;  // key, not compressed
  if (!starts_with(body, kStart)) return std::nullopt;
  Bytes rest = body.subspan(kStart.size());
  for (int part = 0; part < 2; ++part) {  // language, translated key
    const auto end = std::find(rest.begin(), rest.end(), std::byte{0});
    if (end == rest.end()) return std::nullopt;
    rest = rest.subspan(static_cast<std::size_t>(end - rest.begin()) + 1);
  }
  return rest;
}

/// The last eXIf chunk counts; without the tag in it, XMP does.
int orientation_of_png(Bytes file) {
  ByteReader reader(file, 8);
  std::optional<Bytes> exif;
  std::optional<Bytes> xmp;
  while (const auto head = reader.take(8)) {
    const Bytes name = head->subspan(4);
    const auto body = reader.take(load_be<std::uint32_t>(head->data()));
    if (!body || starts_with(name, "IEND")) break;
    if (starts_with(name, "eXIf")) exif = *body;
    if (starts_with(name, "iTXt")) {
      if (const std::optional<Bytes> packet = xmp_of_text(*body)) xmp = *packet;
    }
    reader.take_up_to(4);
  }
  std::optional<int> orientation;
  if (exif) orientation = orientation_of_exif(*exif);
  if (!orientation && xmp) orientation = orientation_of_xmp(*xmp);
  const int found = orientation.value_or(kUpright);
  return found >= 1 && found <= 8 ? found : kUpright;
}

/// The first EXIF chunk of an extended file counts.
int orientation_of_webp(Bytes file) {
  ByteReader reader(file, 12);
  bool extended = false;
  while (const auto head = reader.take(8)) {
    const auto size = load_le<std::uint32_t>(head->data() + 4);
    const auto body = reader.take(size);
    if (!body) break;
    if (starts_with(*head, "VP8X")) extended = true;
    if (extended && starts_with(*head, "EXIF")) return orientation_of_exif(*body).value_or(kUpright);
    reader.take_up_to(size & 1);
  }
  return kUpright;
}

/// Where the pixels of a result's row come from.
struct Walk {
  std::ptrdiff_t start;   ///< bytes from the source's first pixel
  std::ptrdiff_t across;  ///< from pixel to pixel of a row of the result
  std::ptrdiff_t down;    ///< from row to row
};

Walk walk_for(const ConstRgbView& source, int orientation) {
  const std::ptrdiff_t pixel = RgbImage::kChannels;
  const auto row = static_cast<std::ptrdiff_t>(source.stride);
  const std::ptrdiff_t right = (static_cast<std::ptrdiff_t>(source.width) - 1) * pixel;
  const std::ptrdiff_t bottom = (static_cast<std::ptrdiff_t>(source.height) - 1) * row;
  switch (orientation) {
    case 2:  // mirrored
      return {right, -pixel, row};
    case 3:  // turned by 180 degrees
      return {right + bottom, -pixel, -row};
    case 4:  // upside down, mirrored
      return {bottom, pixel, -row};
    case 5:  // rows are columns
      return {0, row, pixel};
    case 6:  // to be turned clockwise
      return {bottom, -row, pixel};
    case 7:
      return {right + bottom, -row, -pixel};
    case 8:  // to be turned counterclockwise
      return {right, row, -pixel};
    default:
      return {0, pixel, row};
  }
}

}  // namespace

int exif_orientation(std::span<const std::byte> file, Codec codec) {
  switch (codec) {
    case Codec::jpeg:
      return orientation_of_jpeg(file);
    case Codec::png:
      return orientation_of_png(file);
    case Codec::webp:
      return orientation_of_webp(file);
    default:
      return kUpright;
  }
}

void apply_orientation(ConstRgbView source, int orientation, RgbImage& out) {
  const bool swapped = orientation >= 5;
  const RgbView view = out.resize(swapped ? Size{source.height, source.width} : Size{source.width, source.height});
  const Walk walk = walk_for(source, orientation);
  for (std::uint32_t y = 0; y < view.height; ++y) {
    const std::uint8_t* from = source.pixels + walk.start + walk.down * static_cast<std::ptrdiff_t>(y);
    std::uint8_t* to = view.row(y);
    for (std::uint32_t x = 0; x < view.width; ++x, from += walk.across, to += 3) {
      std::memcpy(to, from, RgbImage::kChannels);
    }
  }
}

}  // namespace imgpack
