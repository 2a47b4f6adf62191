#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "codec/headers/headers.h"
#include "mmap/little_endian.h"

namespace imgpack::headers {

namespace {

constexpr std::size_t kRiffHeaderSize = 12;  // "RIFF", size, "WEBP"
constexpr std::size_t kChunkHeaderSize = 8;
constexpr std::uint32_t kMaxChunkSize = 0xffffffffu - kChunkHeaderSize - 1;
constexpr std::uint64_t kCanvasAreaEnd = std::uint64_t{1} << 32;

constexpr std::uint8_t kAnimationFlag = 0x02;
constexpr std::uint8_t kAlphaFlag = 0x10;
constexpr std::uint8_t kKnownFlags = 0x3e;

std::uint32_t load_le24(const std::byte* at) noexcept {
  return load_le<std::uint16_t>(at) | static_cast<std::uint32_t>(at[2]) << 16;
}

struct Size {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  bool operator==(const Size&) const = default;
};

struct Bitstream {
  Size size;
  bool alpha = false;
};

struct Chunk {
  Bytes name;
  Bytes body;    ///< without padding
  Bytes padded;  ///< with it
  bool is(std::string_view fourcc) const { return starts_with(name, fourcc); }
};

/// The frame header of a lossy image (RFC 6386 section 9.1).
std::optional<Bitstream> read_vp8(const Chunk& chunk) {
  const Bytes data = chunk.padded;
  if (data.size() < 10) return std::nullopt;
  const std::uint32_t tag = load_le24(data.data());
  const bool key_frame = (tag & 1) == 0;
  const bool known_profile = (tag >> 1 & 7) <= 3;
  const bool shown = (tag >> 4 & 1) != 0;
  const std::uint32_t first_partition = tag >> 5;
  if (!key_frame || !known_profile || !shown || first_partition >= chunk.body.size()) return std::nullopt;
  if (!starts_with(data.subspan(3), "\x9d\x01\x2a")) return std::nullopt;
  const Size size = {load_le<std::uint16_t>(data.data() + 6) & 0x3fffu,
                     load_le<std::uint16_t>(data.data() + 8) & 0x3fffu};
  if (size.width == 0 || size.height == 0) return std::nullopt;
  return Bitstream{size, false};
}

/// The header of a lossless image (RFC 9649 section 3.4).
std::optional<Bitstream> read_vp8l(const Chunk& chunk) {
  const Bytes data = chunk.padded;
  if (data.size() < 5 || byte_at(data, 0) != 0x2f) return std::nullopt;
  const auto bits = load_le<std::uint32_t>(data.data() + 1);
  if (bits >> 29 != 0) return std::nullopt;  // version
  return Bitstream{{(bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1}, (bits >> 28 & 1) != 0};
}

class WebpHeaderParser {
 public:
  /// `bytes` ends where the RIFF container says.
  explicit WebpHeaderParser(Bytes bytes) : bytes_(bytes), reader_(bytes, kRiffHeaderSize) {}

  ParseResult parse();

 private:
  /// An image as one chunk group: ALPH and VP8, or VP8L.
  struct Frame {
    std::optional<Bitstream> image;
    bool lossless = false;
    bool alpha_chunk = false;
    bool alpha_behind_image = false;
  };

  std::variant<Chunk, Refusal> take_chunk();
  /// Whether the next chunk header could not be read although the container goes on.
  bool has_loose_end() const { return reader_.remaining() != 0 && reader_.remaining() < kChunkHeaderSize; }
  std::variant<Frame, Refusal> read_frame();
  ParseResult parse_simple();
  ParseResult parse_extended();
  std::optional<Refusal> read_extended_chunk(const Chunk& chunk);
  std::optional<Refusal> read_single_image();
  std::optional<Refusal> read_animation_frame(const Chunk& chunk);
  std::optional<Refusal> check_image(const Frame& frame, Size offset) const;

  Bytes bytes_;
  ByteReader reader_;
  Size canvas_;
  std::uint8_t flags_ = 0;
  bool animation_header_seen_ = false;
  bool image_seen_ = false;
  bool alpha_ = false;
};

Refusal damaged_image() {
  return malformed("WebP has an image with a damaged header");
}

/// The chunk at the reader's place; its end lies inside the container.
std::variant<Chunk, Refusal> WebpHeaderParser::take_chunk() {
  const auto head = reader_.take(kChunkHeaderSize);
  if (!head) return truncated("WebP ends inside a chunk header");
  const auto size = load_le<std::uint32_t>(head->data() + 4);
  const Bytes name = head->first(4);
  if (size > kMaxChunkSize) return malformed("WebP has a chunk of an impossible size");
  const auto padded = reader_.take(std::uint64_t{size} + (size & 1));
  if (!padded) return malformed("WebP has a chunk that is larger than its container");
  return Chunk{name, padded->first(size), *padded};
}

/// Reads ALPH, VP8 and VP8L chunks up to the first chunk that does not belong to the same image.
std::variant<WebpHeaderParser::Frame, Refusal> WebpHeaderParser::read_frame() {
  Frame frame;
  if (reader_.remaining() < kChunkHeaderSize) return truncated("WebP ends before its image");
  while (reader_.remaining() != 0) {
    const ByteReader before = reader_;
    std::variant<Chunk, Refusal> taken = take_chunk();
    if (auto* refusal = std::get_if<Refusal>(&taken)) return std::move(*refusal);
    const Chunk& chunk = std::get<Chunk>(taken);
    const bool lossy = chunk.is("VP8 ");
    const bool lossless = chunk.is("VP8L");
    if (lossless && frame.alpha_chunk) return malformed("WebP has a lossless image with a separate alpha channel");
    if (chunk.is("ALPH") && !frame.alpha_chunk) {
      frame.alpha_chunk = true;
      frame.alpha_behind_image = frame.image.has_value();
    } else if ((lossy || lossless) && !frame.image) {
      frame.lossless = lossless;
      frame.image = lossy ? read_vp8(chunk) : read_vp8l(chunk);
      if (!frame.image) return damaged_image();
    } else {
      reader_ = before;
      break;
    }
    if (has_loose_end()) return malformed("WebP has loose bytes at its end");
  }
  return frame;
}

ParseResult WebpHeaderParser::parse() {
  return starts_with(bytes_.subspan(kRiffHeaderSize), "VP8X") ? parse_extended() : parse_simple();
}

ParseResult WebpHeaderParser::parse_simple() {
  std::variant<Frame, Refusal> read = read_frame();
  if (auto* refusal = std::get_if<Refusal>(&read)) return std::move(*refusal);
  const Frame& frame = std::get<Frame>(read);
  if (!frame.image) return damaged_image();
  const std::uint8_t channels = frame.image->alpha ? 4 : 3;
  return ParsedHeader{frame.image->size.width, frame.image->size.height, channels};
}

ParseResult WebpHeaderParser::parse_extended() {
  std::variant<Chunk, Refusal> taken = take_chunk();
  if (auto* refusal = std::get_if<Refusal>(&taken)) return std::move(*refusal);
  const Chunk head = std::get<Chunk>(taken);
  if (head.body.size() != 10) return malformed("WebP has a VP8X chunk of an impossible length");
  flags_ = byte_at(head.body, 0);
  alpha_ = (flags_ & kAlphaFlag) != 0;
  canvas_ = {std::uint64_t{load_le24(head.body.data() + 4)} + 1, std::uint64_t{load_le24(head.body.data() + 7)} + 1};
  if (canvas_.width * canvas_.height >= kCanvasAreaEnd) {
    return Refusal{ImageHeaderStatus::too_large,
                   fmt::format("WebP has an impossible canvas of {} x {} pixels", canvas_.width, canvas_.height)};
  }
  do {
    const ByteReader before = reader_;
    taken = take_chunk();
    if (auto* refusal = std::get_if<Refusal>(&taken)) return std::move(*refusal);
    const Chunk chunk = std::get<Chunk>(taken);
    // The parsers of images start at the image's own first chunk.
    const bool image = chunk.is("ALPH") || chunk.is("VP8 ") || chunk.is("VP8L");
    if (image) reader_ = before;
    if (std::optional<Refusal> refusal = image ? read_single_image() : read_extended_chunk(chunk)) {
      return *std::move(refusal);
    }
    if (has_loose_end()) return malformed("WebP has loose bytes at its end");
  } while (reader_.remaining() != 0);

  if (!image_seen_) return malformed("WebP has no image");
  if ((flags_ & ~kKnownFlags) != 0) return malformed("WebP uses unknown features");
  return ParsedHeader{canvas_.width, canvas_.height, static_cast<std::uint8_t>(alpha_ ? 4 : 3)};
}

std::optional<Refusal> WebpHeaderParser::read_extended_chunk(const Chunk& chunk) {
  if (chunk.is("VP8X")) return malformed("WebP has two VP8X chunks");
  if (chunk.is("ANIM")) {
    if (chunk.padded.size() < 6) return malformed("WebP has an ANIM chunk that is too short");
    animation_header_seen_ = true;
  } else if (chunk.is("ANMF")) {
    return read_animation_frame(chunk);
  }
  return std::nullopt;
}

std::optional<Refusal> WebpHeaderParser::read_single_image() {
  if (animation_header_seen_ || (flags_ & kAnimationFlag) != 0) {
    return malformed("WebP has an animation with an image outside its frames");
  }
  if (image_seen_) return malformed("WebP has more than one image but is no animation");
  std::variant<Frame, Refusal> read = read_frame();
  if (auto* refusal = std::get_if<Refusal>(&read)) return std::move(*refusal);
  Frame& frame = std::get<Frame>(read);
  const bool alpha_behind_image = frame.alpha_behind_image;
  // Without the flag, an alpha channel may stand anywhere, because it is ignored.
  if ((flags_ & kAlphaFlag) == 0) frame.alpha_behind_image = false;
  if (std::optional<Refusal> refusal = check_image(frame, {0, 0})) return refusal;
  if (frame.image->size != canvas_) return malformed("WebP has an image of another size than its canvas");
  image_seen_ = true;
  alpha_ = frame.lossless ? frame.image->alpha : alpha_ || (frame.alpha_chunk && !alpha_behind_image);
  return std::nullopt;
}

std::optional<Refusal> WebpHeaderParser::read_animation_frame(const Chunk& chunk) {
  constexpr std::size_t kFrameHeaderSize = 16;
  if (!animation_header_seen_) return malformed("WebP has an animation frame before its ANIM chunk");
  if (chunk.padded.size() < kFrameHeaderSize) return malformed("WebP has an ANMF chunk that is too short");
  const auto field = [&](std::size_t offset) { return std::uint64_t{load_le24(chunk.padded.data() + offset)}; };
  if ((field(6) + 1) * (field(9) + 1) >= kCanvasAreaEnd) return malformed("WebP has an impossible animation frame");

  // The image chunks follow the frame's header. Reading goes on behind the last of them.
  const std::size_t frame_end = reader_.position();
  reader_ = ByteReader(bytes_, static_cast<std::size_t>(chunk.padded.data() - bytes_.data()) + kFrameHeaderSize);
  std::variant<Frame, Refusal> read = read_frame();
  if (auto* refusal = std::get_if<Refusal>(&read)) return std::move(*refusal);
  const Frame& frame = std::get<Frame>(read);
  if (reader_.position() > frame_end) return malformed("WebP has an image that is larger than its frame");
  if ((flags_ & kAnimationFlag) == 0) return std::nullopt;  // frames of a still image are ignored
  if (!frame.image && !frame.alpha_chunk) return std::nullopt;
  if (std::optional<Refusal> refusal = check_image(frame, {field(0) * 2, field(3) * 2})) return refusal;
  image_seen_ = true;
  return std::nullopt;
}

std::optional<Refusal> WebpHeaderParser::check_image(const Frame& frame, Size offset) const {
  if (!frame.image) return malformed("WebP has an alpha channel without an image");
  if (frame.alpha_behind_image) return malformed("WebP has an alpha channel behind its image");
  if (frame.image->size.width + offset.width > canvas_.width ||
      frame.image->size.height + offset.height > canvas_.height) {
    return malformed("WebP has an image outside its canvas");
  }
  return std::nullopt;
}

}  // namespace

ParseResult parse_webp_header(Bytes bytes) {
  if (bytes.size() < kRiffHeaderSize + kChunkHeaderSize) return truncated("WebP ends inside its header");
  const auto riff_size = load_le<std::uint32_t>(bytes.data() + 4);
  if (riff_size > kMaxChunkSize || riff_size < kRiffHeaderSize) return malformed("WebP has an impossible size");
  const std::uint64_t container_size = std::uint64_t{riff_size} + kChunkHeaderSize;
  if (container_size > bytes.size()) {
    return truncated(fmt::format("WebP ends after {} of {} bytes", bytes.size(), container_size));
  }
  return WebpHeaderParser(bytes.first(static_cast<std::size_t>(container_size))).parse();
}

}  // namespace imgpack::headers
