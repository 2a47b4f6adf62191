#include "codec/jpeg/parser.h"

#include <array>
#include <cstring>
#include <optional>

#include "codec/jpeg/huffman.h"

namespace imgpack::jpeg {

namespace {

using Byte = std::uint8_t;

// Marker codes, T.81 table B.1.
constexpr Byte kSof0 = 0xc0;
constexpr Byte kSof1 = 0xc1;
constexpr Byte kSof2 = 0xc2;
constexpr Byte kDht = 0xc4;
constexpr Byte kSof9 = 0xc9;
constexpr Byte kSof10 = 0xca;
constexpr Byte kJpg = 0xc8;
constexpr Byte kDac = 0xcc;
constexpr Byte kSofLast = 0xcf;
constexpr Byte kRst0 = 0xd0;
constexpr Byte kRst7 = 0xd7;
constexpr Byte kSoi = 0xd8;
constexpr Byte kSos = 0xda;
constexpr Byte kDqt = 0xdb;
constexpr Byte kDnl = 0xdc;
constexpr Byte kDri = 0xdd;
constexpr Byte kApp0 = 0xe0;
constexpr Byte kApp14 = 0xee;
constexpr Byte kApp15 = 0xef;
constexpr Byte kCom = 0xfe;
constexpr Byte kTem = 0x01;

constexpr std::size_t kMaxFileSize = std::size_t{1} << 29;  // so that bit positions fit 32 bits
constexpr std::size_t kTableSlots = 4;

/// The body of a marker segment: a window of the file.
struct Body {
  const Byte* data;
  std::uint32_t size;
  std::uint32_t offset;  ///< in the file

  std::uint32_t u16(std::uint32_t at) const { return static_cast<std::uint32_t>(data[at] << 8 | data[at + 1]); }
};

class Parser {
 public:
  explicit Parser(std::span<const std::byte> file)
      : data_(reinterpret_cast<const Byte*>(file.data())), size_(static_cast<std::uint32_t>(file.size())) {}

  ParsedJpeg parse();

 private:
  struct FrameComponent {
    Byte id;
    Byte h;
    Byte v;
    Byte quant;
  };
  struct QuantPlace {
    std::uint32_t offset = 0;
    bool is_16bit = false;
  };

  std::optional<Byte> next_marker();
  std::optional<Body> take_body();
  /// What ends the parse, if this segment does.
  std::optional<Indexability> visit(Byte marker, const Body& body);
  std::optional<Indexability> visit_frame(Byte marker, const Body& body);
  std::optional<Indexability> visit_quantization(const Body& body);
  std::optional<Indexability> visit_huffman(const Body& body);
  void visit_app(Byte marker, const Body& body);
  Indexability visit_scan(const Body& body);
  Indexability take_tables(std::uint32_t c, Byte selectors);
  std::optional<ColorModel> color_model() const;

  const Byte* data_;
  std::uint32_t size_;
  std::uint32_t pos_ = 0;

  bool has_frame_ = false;
  bool arithmetic_ = false;
  bool progressive_ = false;
  bool saw_arithmetic_conditioning_ = false;
  std::uint32_t component_count_ = 0;
  std::array<FrameComponent, 4> frame_components_{};
  std::array<QuantPlace, kTableSlots> quant_;
  std::array<std::uint32_t, kTableSlots> dc_{};
  std::array<std::uint32_t, kTableSlots> ac_{};
  bool saw_jfif_ = false;
  std::optional<Byte> adobe_transform_;
  Frame frame_;
};

/// Skips what is not a marker, fill bytes, and FF00.
std::optional<Byte> Parser::next_marker() {
  while (pos_ < size_) {
    if (data_[pos_] != 0xff) {
      const void* found = std::memchr(data_ + pos_, 0xff, size_ - pos_);
      if (found == nullptr) return std::nullopt;
      pos_ = static_cast<std::uint32_t>(static_cast<const Byte*>(found) - data_);
    }
    while (pos_ < size_ && data_[pos_] == 0xff) ++pos_;
    if (pos_ == size_) return std::nullopt;
    if (const Byte marker = data_[pos_++]; marker != 0) return marker;
  }
  return std::nullopt;
}

std::optional<Body> Parser::take_body() {
  if (size_ - pos_ < 2) return std::nullopt;
  const auto length = static_cast<std::uint32_t>(data_[pos_] << 8 | data_[pos_ + 1]);
  if (length < 2 || length > size_ - pos_) return std::nullopt;
  const Body body{data_ + pos_ + 2, length - 2, pos_ + 2};
  pos_ += length;
  return body;
}

ParsedJpeg Parser::parse() {
  if (size_ < 4 || data_[0] != 0xff || data_[1] != kSoi) return {};
  pos_ = 2;
  while (const std::optional<Byte> marker = next_marker()) {
    if ((*marker >= kRst0 && *marker <= kRst7) || *marker == kTem) continue;
    const bool known = (*marker >= kSof0 && *marker <= kSofLast) || *marker == kSos || *marker == kDqt ||
                       *marker == kDnl || *marker == kDri || (*marker >= kApp0 && *marker <= kApp15) || *marker == kCom;
    if (!known) return {};
    const std::optional<Body> body = take_body();
    if (!body) return {};
    if (const std::optional<Indexability> end = visit(*marker, *body)) {
      ParsedJpeg parsed{*end, {}};
      if (*end == Indexability::indexable) parsed.frame = frame_;
      return parsed;
    }
  }
  return {};
}

std::optional<Indexability> Parser::visit(Byte marker, const Body& body) {
  switch (marker) {
    case kSos:
      return visit_scan(body);
    case kDqt:
      return visit_quantization(body);
    case kDht:
      return visit_huffman(body);
    case kDri:
      if (body.size != 2) return Indexability::damaged;
      frame_.restart_interval = body.u16(0);
      return std::nullopt;
    case kDac:
      saw_arithmetic_conditioning_ = true;
      return std::nullopt;
    case kDnl:
    case kCom:
      return std::nullopt;
    case kJpg:
      return Indexability::damaged;
    default:
      if (marker >= kApp0) {
        visit_app(marker, body);
        return std::nullopt;
      }
      return visit_frame(marker, body);
  }
}

std::optional<Indexability> Parser::visit_frame(Byte marker, const Body& body) {
  if (has_frame_ || body.size < 6) return Indexability::damaged;
  has_frame_ = true;
  arithmetic_ = marker == kSof9 || marker == kSof10;
  progressive_ = marker == kSof2 || marker == kSof10;
  const bool sequential_huffman = marker == kSof0 || marker == kSof1;
  if (!sequential_huffman && !arithmetic_ && !progressive_) return Indexability::other_process;
  if (body.data[0] != 8) return Indexability::other_process;
  frame_.height = body.u16(1);
  frame_.width = body.u16(3);
  component_count_ = body.data[5];
  if (component_count_ != 1 && component_count_ != 3 && component_count_ != 4) return Indexability::other_process;
  if (body.size != 6 + 3 * component_count_) return Indexability::damaged;
  for (std::uint32_t c = 0; c < component_count_; ++c) {
    const Byte* field = body.data + 6 + 3 * c;
    frame_components_[c] = {field[0], static_cast<Byte>(field[1] >> 4), static_cast<Byte>(field[1] & 15), field[2]};
    for (std::uint32_t other = 0; other < c; ++other) {
      if (frame_components_[other].id == field[0]) return Indexability::other_process;
    }
  }
  return std::nullopt;
}

std::optional<Indexability> Parser::visit_quantization(const Body& body) {
  std::uint32_t at = 0;
  while (at < body.size) {
    const Byte head = body.data[at++];
    const bool is_16bit = head >> 4 != 0;
    const std::uint32_t length = is_16bit ? 2 * kBlockCoefficients : kBlockCoefficients;
    const std::size_t slot = head & 15;
    if (slot >= kTableSlots || length > body.size - at) return Indexability::damaged;
    quant_[slot] = {body.offset + at, is_16bit};
    at += length;
  }
  return std::nullopt;
}

std::optional<Indexability> Parser::visit_huffman(const Body& body) {
  std::uint32_t at = 0;
  while (at < body.size) {
    const Byte head = body.data[at++];
    const std::size_t slot = head & 15;
    if (head >> 4 > 1 || slot >= kTableSlots || body.size - at < kHuffmanCounts) return Indexability::damaged;
    const std::uint32_t symbols = count_huffman_symbols(body.data + at);
    if (symbols > kMaxHuffmanSymbols || symbols > body.size - at - kHuffmanCounts) return Indexability::damaged;
    (head >> 4 == 0 ? dc_ : ac_)[slot] = body.offset + at;
    at += kHuffmanCounts + symbols;
  }
  return std::nullopt;
}

void Parser::visit_app(Byte marker, const Body& body) {
  constexpr std::uint32_t kJfifSize = 14;
  constexpr std::uint32_t kAdobeSize = 12;
  if (marker == kApp0 && body.size >= kJfifSize && std::memcmp(body.data, "JFIF", 5) == 0) {
    saw_jfif_ = true;
  } else if (marker == kApp14 && body.size >= kAdobeSize && std::memcmp(body.data, "Adobe", 5) == 0) {
    adobe_transform_ = body.data[11];
  }
}

/// As libjpeg guesses it (default_decompress_parms in jdapimin.c).
std::optional<ColorModel> Parser::color_model() const {
  if (component_count_ == 1) return ColorModel::gray;
  if (saw_jfif_) return ColorModel::ycbcr;
  if (adobe_transform_) return *adobe_transform_ == 0 ? ColorModel::rgb : ColorModel::ycbcr;
  const bool named_rgb =
      frame_components_[0].id == 'R' && frame_components_[1].id == 'G' && frame_components_[2].id == 'B';
  return named_rgb ? ColorModel::rgb : ColorModel::ycbcr;
}

Indexability Parser::visit_scan(const Body& body) {
  if (!has_frame_ || body.size < 1) return Indexability::damaged;
  const std::uint32_t scan_components = body.data[0];
  if (scan_components == 0 || scan_components > 4 || body.size != 4 + 2 * scan_components) {
    return Indexability::damaged;
  }
  if (component_count_ == 4) return Indexability::four_components;
  if (arithmetic_) return Indexability::arithmetic;
  if (progressive_) return Indexability::progressive;
  if (saw_arithmetic_conditioning_) return Indexability::other_process;
  if (scan_components != component_count_) return Indexability::multiple_scans;
  const Byte* parameters = body.data + 1 + 2 * scan_components;
  if (parameters[0] != 0 || parameters[1] != 63 || parameters[2] != 0) return Indexability::other_process;

  frame_.color = *color_model();
  frame_.component_count = component_count_;
  for (std::uint32_t c = 0; c < component_count_; ++c) {
    if (body.data[1 + 2 * c] != frame_components_[c].id) return Indexability::other_process;
    if (const Indexability taken = take_tables(c, body.data[2 + 2 * c]); taken != Indexability::indexable) return taken;
  }
  if (!has_valid_geometry(frame_)) return Indexability::other_process;
  frame_.scan_offset = pos_;
  frame_.scan_size = size_ - pos_;
  return Indexability::indexable;
}

Indexability Parser::take_tables(std::uint32_t c, Byte selectors) {
  const FrameComponent& described = frame_components_[c];
  const std::size_t dc = selectors >> 4;
  const std::size_t ac = selectors & 15;
  if (dc >= kTableSlots || ac >= kTableSlots || described.quant >= kTableSlots) return Indexability::damaged;
  if (described.h == 0 || described.h > kMaxSampling || described.v == 0 || described.v > kMaxSampling) {
    return Indexability::damaged;
  }
  Component& component = frame_.components[c];
  // A scan of one component has MCUs of one block, whatever the sampling factors are (T.81 A.2.2).
  component.h = component_count_ == 1 ? 1 : described.h;
  component.v = component_count_ == 1 ? 1 : described.v;
  component.quant_offset = quant_[described.quant].offset;
  component.quant_16bit = quant_[described.quant].is_16bit;
  component.dc_offset = dc_[dc];
  component.ac_offset = ac_[ac];
  // libjpeg-turbo would put in the standard tables for missing ones; that is left to it.
  if (component.quant_offset == 0 || component.dc_offset == 0 || component.ac_offset == 0) {
    return Indexability::damaged;
  }
  const Component* before = c == 0 ? nullptr : &frame_.components[c - 1];  // which has passed
  const bool valid =
      (before != nullptr && before->dc_offset == component.dc_offset && before->ac_offset == component.ac_offset) ||
      (is_valid_huffman_table(data_ + component.dc_offset, HuffmanClass::dc) &&
       is_valid_huffman_table(data_ + component.ac_offset, HuffmanClass::ac));
  return valid ? Indexability::indexable : Indexability::damaged;
}

}  // namespace

std::string_view to_string(Indexability indexability) noexcept {
  switch (indexability) {
    case Indexability::indexable:
      return "indexable";
    case Indexability::progressive:
      return "progressive";
    case Indexability::arithmetic:
      return "arithmetic-coded";
    case Indexability::multiple_scans:
      return "several scans";
    case Indexability::four_components:
      return "CMYK or YCCK";
    case Indexability::other_process:
      return "of an unusual kind";
    case Indexability::damaged:
      return "damaged";
  }
  return "unknown";
}

ParsedJpeg parse(std::span<const std::byte> file) noexcept {
  if (file.size() >= kMaxFileSize) return {Indexability::other_process, {}};
  return Parser(file).parse();
}

}  // namespace imgpack::jpeg
