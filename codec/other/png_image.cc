// PNG as Pillow decodes it (PngImagePlugin.py, ZipDecode.c): checksums of pixel data do not count, and neither does
// what zlib says behind the last row. libpng is not used because it judges both differently.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include <zlib.h>

#include "codec/other/decoders.h"

namespace imgpack::other {

namespace {

using headers::byte_at;
using headers::ByteReader;
using headers::load_be;

enum ColourType : std::uint8_t { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgba = 6 };

struct PngLayout {
  std::uint8_t bits = 8;
  std::uint8_t colour_type = kGray;
  bool interlaced = false;
  Palette palette;

  unsigned pixel_bits() const noexcept {
    switch (colour_type) {
      case kRgb:
        return 3u * bits;
      case kGrayAlpha:
        return 2u * bits;
      case kRgba:
        return 4u * bits;
      default:
        return bits;
    }
  }
};

struct Chunk {
  std::string_view name;
  std::uint32_t length = 0;
};

/// What stands at the reader's place; nothing at the end of the file or at an impossible name.
std::optional<Chunk> next_chunk(ByteReader& reader, bool& impossible_name) {
  const auto head = reader.take(8);
  if (!head) return std::nullopt;
  const std::string_view name(reinterpret_cast<const char*>(head->data()) + 4, 4);
  impossible_name = !std::all_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x80 && (std::isalnum(byte) != 0 || c == '_');
  });
  if (impossible_name) return std::nullopt;
  return Chunk{name, load_be<std::uint32_t>(head->data())};
}

/// The compressed pixels, piece by piece.
class PixelData {
 public:
  /// `reader` stands in the first data chunk, of which `left` bytes remain.
  PixelData(ByteReader reader, std::uint32_t left) : reader_(reader), left_(left) {}

  /// The next piece as Pillow would read it; empty where the data end.
  Bytes next() {
    constexpr std::uint32_t kMostAtOnce = 65536;
    while (left_ == 0) {
      reader_.take_up_to(4);  // checksum
      bool impossible = false;
      const std::optional<Chunk> chunk = next_chunk(reader_, impossible);
      if (!chunk) return {};
      const bool frame_data = chunk->name == "fdAT";
      if (!frame_data && chunk->name != "IDAT" && chunk->name != "DDAT") return {};
      left_ = chunk->length;
      if (frame_data) {
        if (left_ < 4 || !reader_.take(4)) return {};
        left_ -= 4;
      }
    }
    const Bytes piece = reader_.take_up_to(std::min(left_, kMostAtOnce));
    left_ -= static_cast<std::uint32_t>(piece.size());
    return piece;
  }

  /// Whether what follows the pixels is chunks to the end, each of them complete; a last one may lack its header.
  bool ends_well() {
    reader_.take_up_to(left_);
    while (true) {
      reader_.take_up_to(4);
      bool impossible = false;
      const std::optional<Chunk> chunk = next_chunk(reader_, impossible);
      if (!chunk || chunk->name == "IEND") return true;
      if (!reader_.take(chunk->length)) return false;
    }
  }

 private:
  ByteReader reader_;
  std::uint32_t left_;
};

class Inflater {
 public:
  explicit Inflater(PixelData& data) : data_(data) { created_ = ::inflateInit(&stream_) == Z_OK; }
  ~Inflater() {
    if (created_) ::inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  enum class Outcome : std::uint8_t { more, last, truncated, damaged };
  /// Fills `row`. last: the compressed stream ended with it.
  Outcome fill(std::span<std::uint8_t> row) {
    if (!created_) return Outcome::damaged;
    stream_.next_out = row.data();
    stream_.avail_out = static_cast<uInt>(row.size());
    while (true) {
      if (stream_.avail_in == 0) {
        const Bytes piece = data_.next();
        if (piece.empty()) return Outcome::truncated;
        stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(piece.data()));  // zlib only reads
        stream_.avail_in = static_cast<uInt>(piece.size());
      }
      const int code = ::inflate(&stream_, Z_NO_FLUSH);
      if (code < 0 || code == Z_NEED_DICT) return Outcome::damaged;
      if (stream_.avail_out == 0) return code == Z_STREAM_END ? Outcome::last : Outcome::more;
      if (code == Z_STREAM_END) return Outcome::truncated;
    }
  }

 private:
  PixelData& data_;
  z_stream stream_{};
  bool created_ = false;
};

std::uint8_t paeth(int a, int b, int c) noexcept {
  const int to_a = std::abs(b - c);
  const int to_b = std::abs(a - c);
  const int to_c = std::abs(a + b - 2 * c);
  return static_cast<std::uint8_t>(to_a <= to_b && to_a <= to_c ? a : to_b <= to_c ? b : c);
}

/// Undoes a row's filter in place. Both rows begin with their filter byte; `step` is the distance of pixels, at
/// least 1. False for an unknown filter.
bool unfilter(std::span<std::uint8_t> row, std::span<const std::uint8_t> above, std::size_t step) noexcept {
  const std::size_t size = row.size();
  const auto left = [&](std::size_t i) -> int { return i > step ? row[i - step] : 0; };
  const auto above_left = [&](std::size_t i) -> int { return i > step ? above[i - step] : 0; };
  const auto add = [&](std::size_t i, int value) { row[i] = static_cast<std::uint8_t>(row[i] + value); };
  switch (row[0]) {
    case 0:
      return true;
    case 1:
      for (std::size_t i = step + 1; i < size; ++i) add(i, row[i - step]);
      return true;
    case 2:
      for (std::size_t i = 1; i < size; ++i) add(i, above[i]);
      return true;
    case 3:
      for (std::size_t i = 1; i < size; ++i) add(i, (left(i) + above[i]) / 2);
      return true;
    case 4:
      for (std::size_t i = 1; i < size; ++i) add(i, paeth(left(i), above[i], above_left(i)));
      return true;
    default:
      return false;
  }
}

/// Sample `i` of a row with less than 8 bits a sample.
unsigned packed_sample(const std::uint8_t* row, std::size_t i, unsigned bits) noexcept {
  const std::size_t at = i * bits;
  return row[at / 8] >> (8 - bits - at % 8) & ((1u << bits) - 1);
}

/// Unfiltered samples to RGB, `pixels` of them.
void to_rgb(const PngLayout& layout, const std::uint8_t* row, std::size_t pixels, std::uint8_t* rgb) noexcept {
  const std::size_t sample = layout.bits == 16 ? 2 : 1;
  switch (layout.colour_type) {
    case kPalette:
      for (std::size_t i = 0; i < pixels; ++i) {
        layout.palette.put(static_cast<std::uint8_t>(packed_sample(row, i, layout.bits)), rgb + i * 3);
      }
      return;
    case kGray:
      if (layout.bits == 16) {
        for (std::size_t i = 0; i < pixels; ++i) put_gray(row[i * 2] != 0 ? 255 : row[i * 2 + 1], rgb + i * 3);
        return;
      }
      for (std::size_t i = 0; i < pixels; ++i) {
        put_gray(packed_sample(row, i, layout.bits) * (255u / ((1u << layout.bits) - 1)), rgb + i * 3);
      }
      return;
    case kGrayAlpha:
      for (std::size_t i = 0; i < pixels; ++i) put_gray(row[i * 2 * sample], rgb + i * 3);
      return;
    default: {
      const std::size_t step = (layout.colour_type == kRgb ? 3 : 4) * sample;
      for (std::size_t i = 0; i < pixels; ++i) {
        for (std::size_t c = 0; c < 3; ++c) rgb[i * 3 + c] = row[i * step + c * sample];
      }
    }
  }
}

struct Pass {
  std::uint32_t x, y, step_x, step_y;
};
constexpr std::array<Pass, 1> kWhole = {{{0, 0, 1, 1}}};
constexpr std::array<Pass, 7> kAdam7 = {
    {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}};

void place_row(const PngLayout& layout, const std::uint8_t* samples, const Pass& pass, std::size_t pixels,
               std::vector<std::uint8_t>& scratch, std::uint8_t* row) {
  if (pass.step_x == 1) {
    to_rgb(layout, samples, pixels, row);
    return;
  }
  scratch.resize(pixels * 3);
  to_rgb(layout, samples, pixels, scratch.data());
  for (std::size_t i = 0; i < pixels; ++i) {
    std::memcpy(row + (pass.x + i * pass.step_x) * 3, scratch.data() + i * 3, 3);
  }
}

ImageResult read_pass(const PngLayout& layout, const Pass& pass, Inflater& inflater, RgbView out, bool& ended) {
  if (pass.x >= out.width || pass.y >= out.height) return {};
  const std::size_t pixels = (out.width - pass.x + pass.step_x - 1) / pass.step_x;
  const std::size_t row_size = 1 + (pixels * layout.pixel_bits() + 7) / 8;
  std::vector<std::uint8_t> row(row_size);
  std::vector<std::uint8_t> above(row_size);
  std::vector<std::uint8_t> scratch;
  for (std::uint32_t y = pass.y; y < out.height && !ended; y += pass.step_y) {
    const Inflater::Outcome outcome = inflater.fill(row);
    if (outcome == Inflater::Outcome::truncated) return damaged("PNG ends before its image does");
    if (outcome == Inflater::Outcome::damaged) return damaged("PNG has damaged pixels");
    if (!unfilter(row, above, (layout.pixel_bits() + 7) / 8)) return damaged("PNG has a row with an unknown filter");
    place_row(layout, row.data() + 1, pass, pixels, scratch, out.row(y));
    row.swap(above);
    ended = outcome == Inflater::Outcome::last;
  }
  return {};
}

bool is_known(std::uint8_t bits, std::uint8_t colour_type) noexcept {
  switch (colour_type) {
    case kGray:
      return bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16;
    case kPalette:
      return bits == 1 || bits == 2 || bits == 4 || bits == 8;
    case kRgb:
    case kGrayAlpha:
    case kRgba:
      return bits == 8 || bits == 16;
    default:
      return false;
  }
}

/// What comes before the pixels.
class PngStart {
 public:
  explicit PngStart(Bytes file) : reader_(file, 8) {}

  ImageResult read();
  PixelData data() const { return {reader_, data_size_}; }
  const PngLayout& layout() const { return layout_; }

 private:
  ImageResult visit(std::string_view name, Bytes body);
  void visit_header(Bytes body);

  ByteReader reader_;
  std::uint32_t data_size_ = 0;
  PngLayout layout_;
  Bytes size_;   ///< width and height as stored
  Bytes frame_;  ///< size and place of an animation's first frame, empty if there is none
};

void PngStart::visit_header(Bytes body) {
  size_ = body.first(8);
  if (is_known(byte_at(body, 8), byte_at(body, 9))) {
    layout_.bits = byte_at(body, 8);
    layout_.colour_type = byte_at(body, 9);
  }
  layout_.interlaced = layout_.interlaced || byte_at(body, 12) != 0;
}

ImageResult PngStart::visit(std::string_view name, Bytes body) {
  if (name == "IHDR") {
    visit_header(body);
  } else if (name == "fcTL") {
    frame_ = body.subspan(4, 16);
  } else if (name == "PLTE" && layout_.colour_type == kPalette) {
    const std::size_t colours = body.size() / 3;
    if (colours > 256) return damaged("PNG has a palette of more than 256 colours");
    layout_.palette = Palette();
    for (std::size_t i = 0; i < colours; ++i) {
      const auto part = [&](std::size_t c) { return byte_at(body, i * 3 + c); };
      layout_.palette.set(static_cast<int>(i), part(0), part(1), part(2));
    }
  }
  return {};
}

/// The header parser has seen that these chunks are complete.
ImageResult PngStart::read() {
  while (true) {
    bool impossible = false;
    const std::optional<Chunk> chunk = next_chunk(reader_, impossible);
    if (!chunk || chunk->name == "IEND") return damaged("PNG has no pixels");
    if (chunk->name == "fdAT") return unsupported("PNG is an animation without a still image");
    if (chunk->name == "IDAT") {
      data_size_ = chunk->length;
      break;
    }
    const auto body = reader_.take(chunk->length);
    if (!body || !reader_.take(4)) return damaged("PNG ends before its pixels");
    if (ImageResult result = visit(chunk->name, *body); !result.ok()) return result;
  }
  if (frame_.empty()) return {};
  const bool whole = std::equal(size_.begin(), size_.end(), frame_.begin()) &&
                     std::all_of(frame_.begin() + 8, frame_.end(), [](std::byte b) { return b == std::byte{0}; });
  return whole ? ImageResult{} : unsupported("PNG is an animation whose first frame does not fill it");
}

}  // namespace

ImageResult decode_png(Bytes file, const ImageHeader& header, RgbImage& out) {
  PngStart start(file);
  if (ImageResult result = start.read(); !result.ok()) return result;
  PixelData data = start.data();
  Inflater inflater(data);
  const RgbView view = out.resize({header.width, header.height});
  const std::span<const Pass> passes = start.layout().interlaced ? std::span<const Pass>(kAdam7) : kWhole;
  // Pixels that a stream does not reach are black; a stream may end early after any row.
  std::memset(view.pixels, 0, view.stride * view.height);
  bool ended = false;
  for (const Pass& pass : passes) {
    if (ImageResult result = read_pass(start.layout(), pass, inflater, view, ended); !result.ok()) return result;
    if (ended) break;
  }
  return data.ends_well() ? ImageResult{} : damaged("PNG ends inside a chunk behind its pixels");
}

}  // namespace imgpack::other
