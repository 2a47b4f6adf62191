#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "codec/headers/headers.h"
#include "codec/headers/jpeg_metadata.h"

namespace imgpack::headers {

namespace {

// Marker codes, T.81 table B.1.
constexpr std::uint8_t kFirstMarker = 0xc0;
constexpr std::uint8_t kDht = 0xc4;
constexpr std::uint8_t kJpg = 0xc8;
constexpr std::uint8_t kDac = 0xcc;
constexpr std::uint8_t kRst0 = 0xd0;
constexpr std::uint8_t kEoi = 0xd9;
constexpr std::uint8_t kSos = 0xda;
constexpr std::uint8_t kDqt = 0xdb;
constexpr std::uint8_t kDnl = 0xdc;
constexpr std::uint8_t kDri = 0xdd;
constexpr std::uint8_t kDhp = 0xde;
constexpr std::uint8_t kExp = 0xdf;
constexpr std::uint8_t kApp0 = 0xe0;
constexpr std::uint8_t kApp15 = 0xef;
constexpr std::uint8_t kJpg13 = 0xfd;

bool is_frame_header(std::uint8_t marker) {
  return (marker >= 0xc0 && marker <= 0xcf && marker != kDht && marker != kJpg && marker != kDac) || marker == kDhp;
}

bool is_app(std::uint8_t marker) {
  return marker >= kApp0 && marker <= kApp15;
}

bool has_segment(std::uint8_t marker) {
  return marker != kJpg && !(marker >= kRst0 && marker <= kEoi) && !(marker > kApp15 && marker <= kJpg13);
}

std::string name_of(std::uint8_t marker) {
  if (is_app(marker)) return fmt::format("APP{}", marker - kApp0);
  switch (marker) {
    case kDht:
      return "DHT";
    case kDac:
      return "DAC";
    case kSos:
      return "SOS";
    case kDqt:
      return "DQT";
    case kDnl:
      return "DNL";
    case kDri:
      return "DRI";
    case kDhp:
      return "DHP";
    case kExp:
      return "EXP";
    default:
      return is_frame_header(marker) ? fmt::format("SOF{}", marker - 0xc0) : "COM";
  }
}

class JpegHeaderParser {
 public:
  explicit JpegHeaderParser(Bytes bytes) : reader_(bytes, 3) {}  // behind SOI and the first byte of a marker

  ParseResult parse();

 private:
  std::optional<std::uint8_t> next_marker();
  std::variant<Bytes, Refusal> take_segment(std::uint8_t marker);
  std::optional<Refusal> visit(std::uint8_t marker, Bytes body);
  std::optional<Refusal> visit_frame(std::uint8_t marker, Bytes body);
  std::optional<Refusal> visit_quantization(Bytes body);

  ByteReader reader_;
  bool inside_marker_ = true;  ///< the byte before is the FF that begins a marker
  JpegMetadata metadata_;
  std::optional<ParsedHeader> frame_;  ///< of the last frame header
};

/// Skips junk up to an FF that is not followed by 00, and fill bytes.
std::optional<std::uint8_t> JpegHeaderParser::next_marker() {
  while (const std::optional<std::uint8_t> byte = reader_.next()) {
    if (*byte == 0xff) {
      inside_marker_ = true;
    } else if (std::exchange(inside_marker_, false) && *byte != 0) {
      return byte;
    }
  }
  return std::nullopt;
}

std::variant<Bytes, Refusal> JpegHeaderParser::take_segment(std::uint8_t marker) {
  const auto length_field = reader_.take(2);
  if (!length_field) return truncated(fmt::format("JPEG ends inside its {} segment", name_of(marker)));
  const auto length = load_be<std::uint16_t>(length_field->data());
  // A length that does not even count itself stands for an empty segment.
  const auto body = reader_.take(length < 2 ? 0 : length - 2);
  if (!body) return truncated(fmt::format("JPEG ends inside its {} segment", name_of(marker)));
  return *body;
}

ParseResult JpegHeaderParser::parse() {
  while (const std::optional<std::uint8_t> marker = next_marker()) {
    if (*marker < kFirstMarker) return malformed(fmt::format("JPEG has an unknown marker FF{:02X}", *marker));
    if (!has_segment(*marker)) continue;
    std::variant<Bytes, Refusal> body = take_segment(*marker);
    if (auto* refusal = std::get_if<Refusal>(&body)) return std::move(*refusal);
    if (*marker == kSos) {
      if (!frame_) return malformed("JPEG has a scan before its frame header");
      if (std::optional<Refusal> refusal = metadata_.check_multi_picture_index()) return *std::move(refusal);
      return *frame_;
    }
    if (std::optional<Refusal> refusal = visit(*marker, std::get<Bytes>(body))) return *std::move(refusal);
  }
  return truncated("JPEG ends before its first scan");
}

std::optional<Refusal> JpegHeaderParser::visit(std::uint8_t marker, Bytes body) {
  if (is_frame_header(marker)) return visit_frame(marker, body);
  if (is_app(marker)) return metadata_.visit(marker, body);
  if (marker == kDqt) return visit_quantization(body);
  return std::nullopt;
}

std::optional<Refusal> JpegHeaderParser::visit_frame(std::uint8_t marker, Bytes body) {
  constexpr std::size_t kFixedPart = 6;
  constexpr std::size_t kComponentSize = 3;
  if (body.size() < kFixedPart || (body.size() - kFixedPart) % kComponentSize != 0) {
    return malformed(fmt::format("JPEG has a {} segment of an impossible length", name_of(marker)));
  }
  const std::uint8_t bits = byte_at(body, 0);
  if (bits != 8) return malformed(fmt::format("JPEG has samples of {} bits, which is not supported", bits));
  const std::uint8_t components = byte_at(body, 5);
  if (components != 1 && components != 3 && components != 4) {
    return malformed(fmt::format("JPEG has {} components, which is not supported", components));
  }
  frame_ = ParsedHeader{load_be<std::uint16_t>(body.data() + 3), load_be<std::uint16_t>(body.data() + 1), components};
  return metadata_.finish_profile();
}

std::optional<Refusal> JpegHeaderParser::visit_quantization(Bytes body) {
  ByteReader tables(body);
  while (const std::optional<std::uint8_t> precision_and_number = tables.next()) {
    if (!tables.take(*precision_and_number >> 4 == 0 ? 64 : 128)) {
      return malformed("JPEG has a DQT segment of an impossible length");
    }
  }
  return std::nullopt;
}

}  // namespace

ParseResult parse_jpeg_header(Bytes bytes) {
  return JpegHeaderParser(bytes).parse();
}

}  // namespace imgpack::headers
