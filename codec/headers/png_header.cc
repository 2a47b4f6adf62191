#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "codec/headers/headers.h"
#include "codec/headers/png_text.h"

namespace imgpack::headers {

namespace {

constexpr std::size_t kSignatureSize = 8;

/// Channels of the modes that Pillow reads; LA with 16 bits becomes RGBA there.
std::optional<std::uint8_t> channels_of(std::uint8_t bits, std::uint8_t colour_type) {
  switch (colour_type) {
    case 0:  // gray
      if (bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16) return 1;
      break;
    case 2:  // RGB
      if (bits == 8 || bits == 16) return 3;
      break;
    case 3:  // palette
      if (bits == 1 || bits == 2 || bits == 4 || bits == 8) return 1;
      break;
    case 4:  // gray and alpha
      if (bits == 8) return 2;
      if (bits == 16) return 4;
      break;
    case 6:  // RGBA
      if (bits == 8 || bits == 16) return 4;
      break;
    default:
      break;
  }
  return std::nullopt;
}

std::size_t find_zero(Bytes bytes) {
  return static_cast<std::size_t>(std::find(bytes.begin(), bytes.end(), std::byte{0}) - bytes.begin());
}

class PngHeaderParser {
 public:
  explicit PngHeaderParser(Bytes bytes) : reader_(bytes, kSignatureSize) {}

  ParseResult parse();

 private:
  enum class Step { next_chunk, finished };

  std::variant<Step, Refusal> read_chunk();
  std::optional<Refusal> check_checksum(Bytes name, Bytes body);
  std::optional<Refusal> visit(std::string_view name, Bytes body);
  std::optional<Refusal> visit_header(Bytes body);
  std::optional<Refusal> visit_transparency(Bytes body);
  std::optional<Refusal> visit_profile(Bytes body);
  std::optional<Refusal> visit_compressed_text(Bytes body);
  std::optional<Refusal> visit_international_text(Bytes body);
  std::optional<Refusal> visit_frame(Bytes body);
  std::optional<Refusal> visit_frame_data(Bytes body);
  std::optional<Refusal> add_text(std::uint64_t size);

  ByteReader reader_;
  std::optional<ParsedHeader> size_;      ///< from the last IHDR
  std::optional<std::uint8_t> channels_;  ///< from the last IHDR with a known mode
  std::uint8_t colour_type_ = 0;          ///< belongs to channels_
  std::optional<std::uint32_t> frame_number_;
  std::uint64_t text_total_ = 0;
};

Refusal short_chunk(std::string_view name) {
  return malformed(fmt::format("PNG has a {} chunk that is too short", name));
}

ParseResult PngHeaderParser::parse() {
  while (true) {
    std::variant<Step, Refusal> step = read_chunk();
    if (auto* refusal = std::get_if<Refusal>(&step)) return std::move(*refusal);
    if (std::get<Step>(step) == Step::next_chunk) continue;
    if (!size_) return malformed("PNG has no IHDR chunk");
    if (!channels_) return malformed("PNG has a combination of bit depth and colour type that does not exist");
    return ParsedHeader{size_->width, size_->height, *channels_};
  }
}

std::variant<PngHeaderParser::Step, Refusal> PngHeaderParser::read_chunk() {
  const auto head = reader_.take(8);
  if (!head) return truncated("PNG ends before its pixels");
  const auto length = load_be<std::uint32_t>(head->data());
  const Bytes name_bytes = head->subspan(4);
  for (const std::byte byte : name_bytes) {
    const int c = static_cast<int>(byte);
    if (c >= 0x80 || (std::isalnum(c) == 0 && c != '_')) return malformed("PNG has a chunk with an impossible name");
  }
  const std::string_view name(reinterpret_cast<const char*>(name_bytes.data()), name_bytes.size());

  if (name == "IEND") return Step::finished;
  // Before a known mode, image data is passed over like any other chunk.
  if (name == "IDAT" && channels_) return Step::finished;
  if (name == "fdAT") {
    const auto body = reader_.take(std::min<std::uint32_t>(length, 4));
    if (!body) return truncated("PNG ends inside its fdAT chunk");
    if (std::optional<Refusal> refusal = visit_frame_data(*body)) return *std::move(refusal);
    return Step::finished;
  }
  const auto body = reader_.take(length);
  if (!body) return truncated(fmt::format("PNG ends inside its {} chunk", name));
  if (std::optional<Refusal> refusal = visit(name, *body)) return *std::move(refusal);
  if (std::optional<Refusal> refusal = check_checksum(name_bytes, *body)) return *std::move(refusal);
  return Step::next_chunk;
}

std::optional<Refusal> PngHeaderParser::check_checksum(Bytes name, Bytes body) {
  const std::string_view text(reinterpret_cast<const char*>(name.data()), name.size());
  const auto stored = reader_.take(4);
  if (!stored) return truncated(fmt::format("PNG ends inside its {} chunk", text));
  const auto* covered = reinterpret_cast<const Bytef*>(name.data());
  uLong checksum = ::crc32_z(0, covered, name.size());
  checksum = ::crc32_z(checksum, reinterpret_cast<const Bytef*>(body.data()), body.size());
  if (checksum != load_be<std::uint32_t>(stored->data())) {
    return malformed(fmt::format("PNG has a wrong checksum in its {} chunk", text));
  }
  return std::nullopt;
}

std::optional<Refusal> PngHeaderParser::visit(std::string_view name, Bytes body) {
  struct Visitor {
    std::string_view name;
    std::size_t least_size;
    std::optional<Refusal> (PngHeaderParser::*visit)(Bytes);
  };
  static constexpr std::array<Visitor, 11> kVisitors = {{
      {"IHDR", 13, &PngHeaderParser::visit_header},
      {"tRNS", 0, &PngHeaderParser::visit_transparency},
      {"iCCP", 0, &PngHeaderParser::visit_profile},
      {"zTXt", 0, &PngHeaderParser::visit_compressed_text},
      {"iTXt", 0, &PngHeaderParser::visit_international_text},
      {"acTL", 8, nullptr},  // a wrong number of frames makes it a plain PNG, which opens all the same
      {"fcTL", 26, &PngHeaderParser::visit_frame},
      {"gAMA", 4, nullptr},
      {"sRGB", 1, nullptr},
      {"pHYs", 9, nullptr},
      {"cHRM", 0, nullptr},
  }};
  for (const Visitor& visitor : kVisitors) {
    if (visitor.name != name) continue;
    if (body.size() < visitor.least_size) return short_chunk(name);
    if (name == "cHRM" && body.size() % 4 != 0) return malformed("PNG has a cHRM chunk of an impossible length");
    return visitor.visit == nullptr ? std::nullopt : (this->*visitor.visit)(body);
  }
  if (name == "tEXt") {
    // A text without a key is dropped, one without a separator is all key.
    const std::size_t key = find_zero(body);
    if (key != 0 && key < body.size()) return add_text(body.size() - key - 1);
  }
  return std::nullopt;
}

std::optional<Refusal> PngHeaderParser::visit_header(Bytes body) {
  size_ = ParsedHeader{load_be<std::uint32_t>(body.data()), load_be<std::uint32_t>(body.data() + 4), 0};
  if (const auto channels = channels_of(byte_at(body, 8), byte_at(body, 9))) {
    channels_ = channels;
    colour_type_ = byte_at(body, 9);
  }
  if (byte_at(body, 11) != 0) return malformed("PNG has an unknown filter method");
  return std::nullopt;
}

std::optional<Refusal> PngHeaderParser::visit_transparency(Bytes body) {
  if (!channels_) return std::nullopt;
  if ((colour_type_ == 0 && body.size() < 2) || (colour_type_ == 2 && body.size() < 6)) return short_chunk("tRNS");
  return std::nullopt;
}

std::optional<Refusal> PngHeaderParser::visit_profile(Bytes body) {
  const std::size_t name = find_zero(body);
  if (name == body.size()) return malformed("PNG has an iCCP chunk without a profile name");
  const Bytes compressed = body.subspan(std::min(name + 2, body.size()));
  const Inflated profile = inflate_size(compressed);
  if (profile.too_large) return malformed("PNG has a colour profile of more than 1 MiB");
  return std::nullopt;
}

std::optional<Refusal> PngHeaderParser::visit_compressed_text(Bytes body) {
  const std::size_t key = find_zero(body);
  Bytes value = body.subspan(std::min(key + 1, body.size()));
  if (!value.empty()) {
    if (byte_at(value, 0) != 0) return malformed("PNG has a zTXt chunk with an unknown compression");
    value = value.subspan(1);
  }
  const Inflated text = inflate_size(value);
  if (text.too_large) return malformed("PNG has a text of more than 1 MiB");
  return key == 0 || text.damaged ? std::nullopt : add_text(text.size);
}

std::optional<Refusal> PngHeaderParser::visit_international_text(Bytes body) {
  // Key, 0, compression flag and method, language, 0, translated key, 0, text. What lacks a part is ignored.
  const std::size_t key = find_zero(body);
  if (key == body.size()) return std::nullopt;
  Bytes rest = body.subspan(key + 1);
  if (rest.size() < 2) return std::nullopt;
  const bool compressed = byte_at(rest, 0) != 0;
  const std::uint8_t method = byte_at(rest, 1);
  rest = rest.subspan(2);
  for (int part = 0; part < 2; ++part) {
    const std::size_t end = find_zero(rest);
    if (end == rest.size()) return std::nullopt;
    rest = rest.subspan(end + 1);
  }
  if (!compressed) return add_text(rest.size());
  if (method != 0) return std::nullopt;
  const Inflated text = inflate_size(rest);
  if (text.too_large) return malformed("PNG has a text of more than 1 MiB");
  return text.damaged ? std::nullopt : add_text(text.size);
}

std::optional<Refusal> PngHeaderParser::visit_frame(Bytes body) {
  const auto number = load_be<std::uint32_t>(body.data());
  const std::uint64_t expected = frame_number_ ? std::uint64_t{*frame_number_} + 1 : 0;
  if (number != expected) return malformed("PNG has animation frames out of order");
  frame_number_ = number;
  const auto field = [&](std::size_t offset) { return std::uint64_t{load_be<std::uint32_t>(body.data() + offset)}; };
  const ParsedHeader image = size_.value_or(ParsedHeader{});
  if (field(4) + field(12) > image.width || field(8) + field(16) > image.height) {
    return malformed("PNG has an animation frame outside the image");
  }
  return std::nullopt;
}

std::optional<Refusal> PngHeaderParser::visit_frame_data(Bytes body) {
  if (body.size() < 4) return short_chunk("fdAT");
  const auto number = load_be<std::uint32_t>(body.data());
  if (!frame_number_ || number != std::uint64_t{*frame_number_} + 1)
    return malformed("PNG has animation frames out of order");
  if (!channels_) return malformed("PNG has pixels before its IHDR chunk");
  return std::nullopt;
}

std::optional<Refusal> PngHeaderParser::add_text(std::uint64_t size) {
  text_total_ += size;
  if (text_total_ > kMaxTextTotal) return malformed("PNG has more than 64 MiB of text");
  return std::nullopt;
}

}  // namespace

ParseResult parse_png_header(Bytes bytes) {
  return PngHeaderParser(bytes).parse();
}

}  // namespace imgpack::headers
