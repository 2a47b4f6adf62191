#include "codec/headers/jpeg_metadata.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "codec/headers/tiff_directory.h"
#include "mmap/little_endian.h"

namespace imgpack::headers {

namespace {

using namespace std::string_view_literals;

constexpr std::uint8_t kApp0 = 0xe0;
constexpr std::uint8_t kApp1 = 0xe1;
constexpr std::uint8_t kApp2 = 0xe2;
constexpr std::uint8_t kApp13 = 0xed;
constexpr std::uint8_t kApp14 = 0xee;

/// Photoshop's image resource blocks: "8BIM", number, name with its length, size, data. What ends inside a block is
/// tolerated, except just before the length of a name.
std::optional<Refusal> check_photoshop(Bytes body) {
  constexpr std::uint16_t kResolutionInfo = 0x03ed;
  ByteReader reader(body, 14);
  while (true) {
    const auto signature = reader.take(4);
    if (!signature || !starts_with(*signature, "8BIM")) return std::nullopt;
    const auto number = reader.take(2);
    if (!number) return std::nullopt;
    const auto name_length = reader.next();
    if (!name_length) return malformed("JPEG has a Photoshop segment that ends before a resource's name");
    if (!reader.take(*name_length)) return std::nullopt;
    if (reader.position() % 2 != 0 && !reader.next()) return std::nullopt;
    const auto size = reader.take(4);
    if (!size) return std::nullopt;
    const auto data = reader.take(load_be<std::uint32_t>(size->data()));
    if (!data) return std::nullopt;
    if (load_be<std::uint16_t>(number->data()) == kResolutionInfo && data->size() < 14) return std::nullopt;
    if (reader.position() % 2 != 0 && !reader.next()) return std::nullopt;
  }
}

/// Pillow computes the first value divided by the second, of whatever type they are; most failures are tolerated, a
/// missing second one is not.
bool resolution_has_two_values(const TiffValues& resolution) {
  if (resolution.is_bytes()) return resolution.data().size() >= 2;
  if (!resolution.is_text()) return true;
  Bytes text = resolution.data();
  if (text.back() == std::byte{0}) text = text.first(text.size() - 1);
  if (text.empty()) return false;
  const bool digit = byte_at(text, 0) >= '0' && byte_at(text, 0) <= '9';
  return !digit || text.size() >= 2;
}

}  // namespace

std::optional<Refusal> JpegMetadata::visit(std::uint8_t marker, Bytes body) {
  std::optional<Refusal> refusal;
  if (marker == kApp0 && starts_with(body, "JFIF")) {
    refusal = visit_jfif(body);
  } else if (marker == kApp1 && starts_with(body, "Exif\0"sv)) {
    if (!exif_) exif_ = body;
  } else if (marker == kApp2 && starts_with(body, "ICC_PROFILE\0"sv)) {
    add_profile_piece(body);
  } else if (marker == kApp2 && starts_with(body, "MPF\0"sv)) {
    multi_picture_ = body.subspan(4);
  } else if (marker == kApp13 && starts_with(body, "Photoshop 3.0\0"sv)) {
    refusal = check_photoshop(body);
  } else if (marker == kApp14 && starts_with(body, "Adobe") && body.size() < 7) {
    refusal = malformed("JPEG has an Adobe segment without a version");
  }
  return refusal ? refusal : check_density();
}

std::optional<Refusal> JpegMetadata::visit_jfif(Bytes body) {
  if (body.size() < 7) return malformed("JPEG has a JFIF segment without a version");
  constexpr std::uint8_t kDotsPerInch = 1;
  if (body.size() >= 12 && byte_at(body, 7) == kDotsPerInch) density_known_ = true;
  return std::nullopt;
}

/// Without a density in JFIF, the one of the first Exif segment is looked up, once.
std::optional<Refusal> JpegMetadata::check_density() {
  if (density_known_ || !exif_) return std::nullopt;
  density_known_ = true;
  Bytes exif = *exif_;
  if (starts_with(exif, "Exif\0\0"sv)) exif = exif.subspan(6);
  const TiffPreamble preamble = read_tiff_preamble(exif, false);
  if (preamble.status == TiffPreamble::Status::truncated) return malformed("JPEG has an Exif segment that is cut off");
  if (preamble.status != TiffPreamble::Status::ok) return std::nullopt;

  constexpr std::uint16_t kXResolution = 0x011a;
  constexpr std::uint16_t kResolutionUnit = 0x0128;
  const TiffDirectory tags(exif, preamble, {kXResolution, kResolutionUnit});
  if (!tags[kXResolution].present() || !tags[kResolutionUnit].present()) return std::nullopt;
  if (!resolution_has_two_values(tags[kXResolution]))
    return malformed("JPEG has a damaged resolution in its Exif data");
  return std::nullopt;
}

/// Pieces are sorted by content. Only which one comes first matters, and that shows in a piece's first 14 bytes.
void JpegMetadata::add_profile_piece(Bytes body) {
  const Bytes start = body.first(std::min<std::size_t>(body.size(), 14));
  if (!first_profile_ ||
      std::lexicographical_compare(start.begin(), start.end(), first_profile_->begin(), first_profile_->end())) {
    first_profile_ = start;
  }
}

std::optional<Refusal> JpegMetadata::finish_profile() {
  if (!first_profile_) return std::nullopt;
  if (first_profile_->size() < 14) return malformed("JPEG has a colour profile segment without numbers");
  first_profile_.reset();
  return std::nullopt;
}

/// CIPA DC-007. An index that promises more entries than it has is not tolerated, unless an entry before is of an
/// unknown kind: then the file counts as an ordinary JPEG.
std::optional<Refusal> JpegMetadata::check_multi_picture_index() const {
  if (!multi_picture_) return std::nullopt;
  const TiffPreamble preamble = read_tiff_preamble(*multi_picture_, false);
  if (preamble.status != TiffPreamble::Status::ok) return std::nullopt;

  constexpr std::uint16_t kNumberOfImages = 0xb001;
  constexpr std::uint16_t kEntries = 0xb002;
  constexpr std::size_t kEntrySize = 16;
  const TiffDirectory tags(*multi_picture_, preamble, {kNumberOfImages, kEntries});
  if (!tags[kNumberOfImages].is_integer() || !tags[kEntries].is_bytes()) return std::nullopt;
  const Bytes entries = tags[kEntries].data();
  const double images = tags[kNumberOfImages].number();
  const bool big_endian = starts_with(*multi_picture_, "MM\0\x2a"sv);
  for (std::size_t i = 0; static_cast<double>(i) < images; ++i) {
    if (entries.size() < (i + 1) * kEntrySize) return malformed("JPEG has a multi-picture index that is cut off");
    const std::byte* entry = entries.data() + i * kEntrySize;
    const auto attribute = big_endian ? load_be<std::uint32_t>(entry) : load_le<std::uint32_t>(entry);
    if ((attribute >> 24 & 7) != 0) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace imgpack::headers
