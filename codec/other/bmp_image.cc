// Bitmaps as Pillow decodes them (BmpImagePlugin.py), including which palettes it takes for gray.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "codec/other/decoders.h"
#include "mmap/little_endian.h"

namespace imgpack::other {

namespace {

using headers::byte_at;
using headers::ByteReader;

constexpr std::size_t kFileHeaderSize = 14;
constexpr std::uint32_t kCoreHeaderSize = 12;
enum Compression : std::uint32_t { kRaw = 0, kRle8 = 1, kRle4 = 2, kBitfields = 3 };

struct BmpFile {
  std::uint32_t header_size = 0;
  std::uint32_t bits = 0;
  std::uint32_t compression = kRaw;
  std::uint64_t colours = 0;
  bool top_down = false;
  std::uint32_t green_mask = 0;  ///< of bit fields; together with red it tells the known layouts apart
  std::uint32_t red_mask = 0;
  std::uint64_t pixels_at = 0;
  Palette palette;
  bool gray = false;  ///< the palette is black and white or a gray ramp, and does not count
};

/// The header parser has checked that all of this is there, except the palette.
BmpFile read_fields(ByteReader& reader) {
  BmpFile bmp;
  const Bytes head = *reader.take(kFileHeaderSize + 4);
  bmp.header_size = load_le<std::uint32_t>(head.data() + kFileHeaderSize);
  bmp.pixels_at = load_le<std::uint32_t>(head.data() + 10);
  const Bytes fields = *reader.take(bmp.header_size - 4);
  if (bmp.header_size == kCoreHeaderSize) {
    bmp.bits = load_le<std::uint16_t>(fields.data() + 6);
  } else {
    bmp.top_down = byte_at(fields, 7) == 0xff;
    bmp.bits = load_le<std::uint16_t>(fields.data() + 10);
    bmp.compression = load_le<std::uint32_t>(fields.data() + 12);
    bmp.colours = load_le<std::uint32_t>(fields.data() + 28);
  }
  if (bmp.compression == kBitfields) {
    const Bytes masks = fields.size() >= 52 ? fields.subspan(36) : *reader.take(12);
    bmp.red_mask = load_le<std::uint32_t>(masks.data());
    bmp.green_mask = load_le<std::uint32_t>(masks.data() + 4);
  }
  if (bmp.colours == 0) bmp.colours = std::uint64_t{1} << bmp.bits;
  if (bmp.pixels_at == kFileHeaderSize + bmp.header_size && bmp.bits <= 8) bmp.pixels_at += 4 * bmp.colours;
  return bmp;
}

/// False if the palette has more colours than a pixel can name.
bool read_palette(BmpFile& bmp, ByteReader& reader) {
  const std::size_t step = bmp.header_size == kCoreHeaderSize ? 3 : 4;
  const Bytes stored = reader.take_up_to(step * bmp.colours);
  const auto gray_value = [&](std::uint64_t i) { return bmp.colours == 2 ? i * 255 : i; };
  bmp.gray = true;
  for (std::uint64_t i = 0; i < bmp.colours && bmp.gray; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t at = static_cast<std::size_t>(i) * step + c;
      bmp.gray = bmp.gray && at < stored.size() && byte_at(stored, at) == gray_value(i);
    }
  }
  if (bmp.gray) return true;
  const std::size_t colours = stored.size() / step;
  if (colours > 256) return false;
  for (std::size_t i = 0; i < colours; ++i) {
    const auto part = [&](std::size_t c) { return byte_at(stored, i * step + c); };
    bmp.palette.set(static_cast<int>(i), part(2), part(1), part(0));
  }
  return true;
}

/// Places of red, green and blue in 4 bytes.
std::array<std::size_t, 3> byte_order(const BmpFile& bmp) {
  if (bmp.compression == kBitfields && bmp.bits == 32) {
    if (bmp.red_mask == 0xff000000) return {3, 2, 1};
    if (bmp.red_mask == 0xff) return {0, 1, 2};
  }
  return {2, 1, 0};
}

void convert_row(const BmpFile& bmp, const std::byte* stored, std::uint32_t width, std::uint8_t* rgb) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(stored);
  if (bmp.bits <= 8) {
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t at = x * bmp.bits;
      const unsigned index = bytes[at / 8] >> (8 - bmp.bits - at % 8) & ((1u << bmp.bits) - 1);
      if (bmp.gray) {
        put_gray(bmp.bits == 1 ? index * 255 : index, rgb + x * 3);
      } else {
        bmp.palette.put(static_cast<std::uint8_t>(index), rgb + x * 3);
      }
    }
    return;
  }
  if (bmp.bits == 16) {
    const bool six_bits_green = bmp.compression == kBitfields && bmp.green_mask == 0x7e0;
    const unsigned green_max = six_bits_green ? 63 : 31;
    const unsigned red_shift = six_bits_green ? 11 : 10;
    for (std::size_t x = 0; x < width; ++x) {
      const unsigned pixel = load_le<std::uint16_t>(stored + x * 2);
      rgb[x * 3] = static_cast<std::uint8_t>((pixel >> red_shift & 31) * 255 / 31);
      rgb[x * 3 + 1] = static_cast<std::uint8_t>((pixel >> 5 & green_max) * 255 / green_max);
      rgb[x * 3 + 2] = static_cast<std::uint8_t>((pixel & 31) * 255 / 31);
    }
    return;
  }
  const std::array<std::size_t, 3> order = byte_order(bmp);
  const std::size_t step = bmp.bits / 8;
  for (std::size_t x = 0; x < width; ++x) {
    for (std::size_t c = 0; c < 3; ++c) rgb[x * 3 + c] = bytes[x * step + order[c]];
  }
}

std::uint32_t row_at(const BmpFile& bmp, std::uint32_t stored, std::uint32_t height) {
  return bmp.top_down ? stored : height - 1 - stored;
}

ImageResult read_raw(const BmpFile& bmp, Bytes file, RgbView out) {
  const std::uint64_t row_size = (std::uint64_t{out.width} * bmp.bits + 7) / 8;
  const std::uint64_t stride = (std::uint64_t{out.width} * bmp.bits + 31) / 32 * 4;
  ByteReader reader(file, static_cast<std::size_t>(std::min<std::uint64_t>(bmp.pixels_at, file.size())));
  for (std::uint32_t y = 0; y < out.height; ++y) {
    const auto row = reader.take(row_size);
    if (!row) return damaged("BMP ends before its image does");
    reader.take_up_to(stride - row_size);
    convert_row(bmp, row->data(), out.width, out.row(row_at(bmp, y, out.height)));
  }
  return {};
}

/// Run-length decoding into indices, one a byte. Stops once there are enough.
class RunLengthDecoder {
 public:
  RunLengthDecoder(Bytes file, std::uint64_t at, bool nibbles, std::uint32_t width, std::uint64_t pixels)
      : reader_(file, static_cast<std::size_t>(std::min<std::uint64_t>(at, file.size()))),
        nibbles_(nibbles),
        width_(width),
        wanted_(static_cast<std::size_t>(pixels)) {}

  std::vector<std::uint8_t> decode() {
    while (indices_.size() < wanted_) {
      const auto pair = reader_.take(2);
      if (!pair) break;
      const std::uint8_t count = byte_at(*pair, 0);
      const std::uint8_t value = byte_at(*pair, 1);
      if (count != 0) {
        add_run(count, value);
      } else if (!escape(value)) {
        break;
      }
    }
    return std::move(indices_);
  }

 private:
  /// A run ends at the right edge.
  void add_run(std::uint32_t count, std::uint8_t value) {
    count = std::min(count, x_ < width_ ? static_cast<std::uint32_t>(width_ - x_) : 0u);
    for (std::uint32_t i = 0; i < count; ++i) {
      indices_.push_back(!nibbles_ ? value : i % 2 == 0 ? value >> 4 : value & 15);
    }
    x_ += count;
  }
  /// False at the end of the bitmap.
  bool escape(std::uint8_t code) {
    switch (code) {
      case 0:
        while (indices_.size() % width_ != 0) indices_.push_back(0);
        x_ = 0;
        return true;
      case 1:
        return false;
      case 2: {
        const auto delta = reader_.take(2);
        const auto second = reader_.take(2);  // Pillow 9.4 reads the distances again, from the two bytes that follow
        if (!delta || !second) return false;
        const std::size_t skipped = byte_at(*second, 0) + std::size_t{byte_at(*second, 1)} * width_;
        indices_.resize(std::min(indices_.size() + skipped, wanted_));
        x_ = indices_.size() % width_;
        return true;
      }
      default:
        return add_literal(code);
    }
  }
  bool add_literal(std::uint8_t count) {
    const auto size = static_cast<std::uint8_t>(nibbles_ ? count / 2 : count);
    const Bytes taken = reader_.take_up_to(size);
    for (const std::byte byte : taken) {
      const auto value = static_cast<std::uint8_t>(byte);
      if (nibbles_) indices_.push_back(value >> 4);
      indices_.push_back(nibbles_ ? static_cast<std::uint8_t>(value & 15) : value);
    }
    if (taken.size() < size) return false;
    x_ += count;
    if (reader_.position() % 2 != 0) reader_.take_up_to(1);
    return true;
  }

  ByteReader reader_;
  bool nibbles_;
  std::uint64_t x_ = 0;
  std::uint32_t width_;
  std::size_t wanted_;
  std::vector<std::uint8_t> indices_;
};

ImageResult read_run_lengths(const BmpFile& bmp, Bytes file, RgbView out) {
  const std::uint64_t pixels = std::uint64_t{out.width} * out.height;
  RunLengthDecoder decoder(file, bmp.pixels_at, bmp.compression == kRle4, out.width, pixels);
  const std::vector<std::uint8_t> indices = decoder.decode();
  if (indices.size() < pixels) return damaged("BMP ends before its image does");
  for (std::uint32_t y = 0; y < out.height; ++y) {
    std::uint8_t* rgb = out.row(row_at(bmp, y, out.height));
    const std::uint8_t* row = indices.data() + std::size_t{y} * out.width;
    for (std::uint32_t x = 0; x < out.width; ++x) bmp.palette.put(row[x], rgb + x * 3);
  }
  return {};
}

}  // namespace

ImageResult decode_bmp(Bytes file, const ImageHeader& header, RgbImage& out) {
  ByteReader reader(file);
  BmpFile bmp = read_fields(reader);
  if (bmp.bits <= 8 && !read_palette(bmp, reader)) return damaged("BMP has a palette of more than 256 colours");
  if (bmp.pixels_at == 0) bmp.pixels_at = reader.position();
  const bool run_lengths = bmp.compression == kRle8 || bmp.compression == kRle4;
  if (run_lengths && bmp.bits > 8) return damaged("BMP has run lengths of colours without a palette");
  if (bmp.gray) {
    const bool black_and_white = bmp.colours == 2;
    if (run_lengths && black_and_white) return damaged("BMP has run lengths of black and white");
    if (!run_lengths && bmp.bits != (black_and_white ? 1u : 8u)) {
      return unsupported("BMP has a palette that Pillow misreads");
    }
  }
  const RgbView view = out.resize({header.width, header.height});
  return run_lengths ? read_run_lengths(bmp, file, view) : read_raw(bmp, file, view);
}

}  // namespace imgpack::other
