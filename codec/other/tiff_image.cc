// TIFF through libtiff, for the sample layouts whose conversion by Pillow is known to be met; other layouts are
// refused.
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "codec/inks.h"
#include "codec/orientation.h"
#include "codec/other/decoders.h"

namespace imgpack::other {

namespace {

struct Deleter {
  void operator()(TIFF* tiff) const noexcept { TIFFClose(tiff); }
  void operator()(TIFFOpenOptions* options) const noexcept { TIFFOpenOptionsFree(options); }
};
using Tiff = std::unique_ptr<TIFF, Deleter>;

/// What libtiff reads from, and where its errors go.
struct Source {
  Bytes file;
  std::size_t position = 0;
  char message[160] = {};  ///< of the first error
};

tmsize_t on_read(thandle_t handle, void* to, tmsize_t size) {
  auto& source = *static_cast<Source*>(handle);
  const std::size_t left = source.file.size() - std::min(source.position, source.file.size());
  const std::size_t taken = std::min(left, static_cast<std::size_t>(std::max<tmsize_t>(size, 0)));
  if (taken != 0) std::memcpy(to, source.file.data() + source.position, taken);
  source.position += taken;
  return static_cast<tmsize_t>(taken);
}

tmsize_t on_write(thandle_t, void*, tmsize_t) {
  return 0;
}

toff_t on_seek(thandle_t handle, toff_t offset, int whence) {
  auto& source = *static_cast<Source*>(handle);
  const std::uint64_t base = whence == SEEK_CUR ? source.position : whence == SEEK_END ? source.file.size() : 0;
  source.position = static_cast<std::size_t>(base + offset);
  return source.position;
}

int on_close(thandle_t) {
  return 0;
}

toff_t on_size(thandle_t handle) {
  return static_cast<Source*>(handle)->file.size();
}

int on_error(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  auto& source = *static_cast<Source*>(user);
  if (source.message[0] == 0) std::vsnprintf(source.message, sizeof source.message, format, arguments);
  return 1;
}

int on_warning(TIFF*, void*, const char*, const char*, va_list) {
  return 1;
}

Tiff open_tiff(Source& source, std::uint64_t most_memory) {
  const std::unique_ptr<TIFFOpenOptions, Deleter> options(TIFFOpenOptionsAlloc());
  if (options == nullptr) return nullptr;
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, &source);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, nullptr);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), static_cast<tmsize_t>(most_memory));
  // "m": no mapping, there is nothing to map.
  return Tiff(TIFFClientOpenExt("image", "rm", &source, on_read, on_write, on_seek, on_close, on_size, nullptr, nullptr,
                                options.get()));
}

struct Layout {
  std::uint16_t bits = 1;
  std::uint16_t samples = 1;
  std::uint16_t photometric = 0;
  std::uint16_t planes = PLANARCONFIG_CONTIG;
  std::uint16_t compression = COMPRESSION_NONE;
  std::uint16_t format = SAMPLEFORMAT_UINT;
  std::uint16_t orientation = 1;
  std::uint16_t extra_count = 0;
  bool associated_alpha = false;
  Palette palette;
};

Layout read_layout(TIFF* tiff) {
  Layout layout;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &layout.bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &layout.samples);
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &layout.photometric);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &layout.planes);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &layout.compression);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &layout.format);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &layout.orientation);
  std::uint16_t* extra = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &layout.extra_count, &extra) == 0) layout.extra_count = 0;
  for (std::uint16_t i = 0; i < layout.extra_count; ++i) {
    layout.associated_alpha = layout.associated_alpha || extra[i] == EXTRASAMPLE_ASSOCALPHA;
  }
  return layout;
}

bool read_palette(TIFF* tiff, Layout& layout) {
  std::uint16_t* channels[3] = {};
  if (layout.bits > 8 || TIFFGetField(tiff, TIFFTAG_COLORMAP, &channels[0], &channels[1], &channels[2]) == 0) {
    return false;
  }
  for (int i = 0; i < 1 << layout.bits; ++i) {
    const auto part = [&](int c) { return static_cast<std::uint8_t>(channels[c][i] >> 8); };
    layout.palette.set(i, part(0), part(1), part(2));
  }
  return true;
}

/// Why this layout is not read, or nullptr.
const char* objection(const Layout& layout) {
  const bool wide_gray = layout.photometric == PHOTOMETRIC_MINISBLACK && layout.samples == 1 && layout.bits >= 16;
  if (layout.format != SAMPLEFORMAT_UINT && !(layout.format == SAMPLEFORMAT_INT && wide_gray)) {
    return "TIFF has samples that are not unsigned integers";
  }
  const bool small = layout.bits == 1 || layout.bits == 2 || layout.bits == 4;
  const bool one = layout.samples == 1;
  switch (layout.photometric) {
    case PHOTOMETRIC_MINISBLACK:
      if ((one && (small || layout.bits == 16 || layout.bits == 32)) || (layout.bits == 8 && layout.samples <= 2))
        break;
      return "TIFF has gray samples of an unusual layout";
    case PHOTOMETRIC_MINISWHITE:
      if (one && (small || layout.bits == 8)) break;
      return "TIFF has inverted gray samples of an unusual layout";
    case PHOTOMETRIC_PALETTE:
      if ((one && small) || layout.bits == 8) break;
      return "TIFF has palette samples of an unusual layout";
    case PHOTOMETRIC_RGB:
      if (layout.samples < 3 || (layout.bits != 8 && layout.bits != 16)) return "TIFF has RGB samples of unusual depth";
      break;
    case PHOTOMETRIC_SEPARATED:
      if (layout.samples >= 4 && (layout.bits == 8 || layout.bits == 16)) break;
      return "TIFF has CMYK samples of an unusual layout";
    case PHOTOMETRIC_YCBCR:
      if (layout.compression == COMPRESSION_JPEG && layout.samples == 3 && layout.bits == 8) break;
      return "TIFF has YCbCr samples that are not JPEG-coded";
    default:
      return "TIFF has a colour space other than gray, palette, RGB and CMYK";
  }
  if (layout.associated_alpha) return "TIFF has colours multiplied by their alpha";
  if (layout.planes != PLANARCONFIG_CONTIG && !one) return "TIFF has separate planes";
  return nullptr;
}

/// libtiff hands samples of more than a byte out in the machine's order.
template <class T>
T load_native(const std::uint8_t* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Gray beyond 8 bits is not scaled but clipped.
unsigned wide_gray_at(const std::uint8_t* row, std::size_t index, const Layout& layout) noexcept {
  const std::int64_t value = layout.bits == 32                   ? load_native<std::int32_t>(row + index * 4)
                             : layout.format == SAMPLEFORMAT_INT ? load_native<std::int16_t>(row + index * 2)
                                                                 : load_native<std::uint16_t>(row + index * 2);
  return static_cast<unsigned>(std::clamp<std::int64_t>(value, 0, 255));
}

/// A sample of at most 8 bits, or the high byte of one of 16.
unsigned byte_sample(const std::uint8_t* row, std::size_t index, unsigned bits) noexcept {
  if (bits == 8) return row[index];
  if (bits == 16) return load_native<std::uint16_t>(row + index * 2) >> 8;
  const std::size_t at = index * bits;
  return row[at / 8] >> (8 - bits - at % 8) & ((1u << bits) - 1);
}

void convert_row(const Layout& layout, const std::uint8_t* row, std::uint32_t pixels, std::uint8_t* rgb) {
  const unsigned scale = layout.bits >= 8 ? 1 : 255 / ((1u << layout.bits) - 1);
  for (std::size_t x = 0; x < pixels; ++x, rgb += 3) {
    const auto sample = [&](std::size_t c) { return byte_sample(row, x * layout.samples + c, layout.bits); };
    switch (layout.photometric) {
      case PHOTOMETRIC_MINISBLACK:
        put_gray(layout.bits > 8 ? wide_gray_at(row, x, layout) : sample(0) * scale, rgb);
        break;
      case PHOTOMETRIC_MINISWHITE:
        put_gray(255 - sample(0) * scale, rgb);
        break;
      case PHOTOMETRIC_PALETTE:
        layout.palette.put(static_cast<std::uint8_t>(sample(0)), rgb);
        break;
      case PHOTOMETRIC_SEPARATED:
        inks_to_rgb(sample(0), sample(1), sample(2), sample(3), rgb);
        break;
      default:
        for (std::size_t c = 0; c < 3; ++c) rgb[c] = static_cast<std::uint8_t>(sample(c));
    }
  }
}

/// Strips and tiles alike: pieces of one size that cover the image from left to right, from top to bottom.
class PieceReader {
 public:
  PieceReader(TIFF* tiff, const Layout& layout, Size image) : tiff_(tiff), layout_(layout), image_(image) {
    tiled_ = TIFFIsTiled(tiff) != 0;
    if (tiled_) {
      TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &piece_.width);
      TIFFGetField(tiff, TIFFTAG_TILELENGTH, &piece_.height);
    } else {
      piece_.width = image.width;
      TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &piece_.height);
      piece_.height = std::min(piece_.height, image.height);
    }
  }

  ImageResult read(std::uint64_t most_memory, RgbView out);

 private:
  bool read_piece(std::uint32_t x, std::uint32_t y, std::vector<std::uint8_t>& bytes);

  TIFF* tiff_;
  const Layout& layout_;
  Size image_;
  Size piece_;
  bool tiled_ = false;
};

bool PieceReader::read_piece(std::uint32_t x, std::uint32_t y, std::vector<std::uint8_t>& bytes) {
  const auto size = static_cast<tmsize_t>(bytes.size());
  if (tiled_) return TIFFReadEncodedTile(tiff_, TIFFComputeTile(tiff_, x, y, 0, 0), bytes.data(), size) == size;
  const std::uint64_t rows = std::min(piece_.height, image_.height - y);
  const tmsize_t wanted = static_cast<tmsize_t>(rows) * TIFFScanlineSize(tiff_);
  return wanted <= size && TIFFReadEncodedStrip(tiff_, TIFFComputeStrip(tiff_, y, 0), bytes.data(), wanted) == wanted;
}

ImageResult PieceReader::read(std::uint64_t most_memory, RgbView out) {
  const tmsize_t size = tiled_ ? TIFFTileSize(tiff_) : TIFFStripSize(tiff_);
  const tmsize_t row_size = tiled_ ? TIFFTileRowSize(tiff_) : TIFFScanlineSize(tiff_);
  const std::uint64_t needed = (std::uint64_t{piece_.width} * layout_.bits * layout_.samples + 7) / 8;
  if (size <= 0 || row_size <= 0 || piece_.width == 0 || piece_.height == 0 ||
      static_cast<std::uint64_t>(size) > most_memory || static_cast<std::uint64_t>(row_size) < needed ||
      static_cast<std::uint64_t>(size) / piece_.height < static_cast<std::uint64_t>(row_size)) {
    return damaged("TIFF has strips or tiles of an impossible size");
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
  for (std::uint32_t y = 0; y < image_.height;) {
    const std::uint32_t rows = std::min(piece_.height, image_.height - y);
    for (std::uint32_t x = 0; x < image_.width;) {
      const std::uint32_t columns = std::min(piece_.width, image_.width - x);
      if (!read_piece(x, y, bytes)) return damaged("TIFF has damaged pixels");
      for (std::uint32_t i = 0; i < rows; ++i) {
        convert_row(layout_, bytes.data() + std::size_t{i} * static_cast<std::size_t>(row_size), columns,
                    out.row(y + i) + std::size_t{x} * 3);
      }
      x += columns;
    }
    y += rows;
  }
  return {};
}

}  // namespace

ImageResult decode_tiff(Bytes file, const ImageHeader& header, RgbImage& out) {
  const std::uint64_t most_memory = (std::uint64_t{64} << 20) + std::uint64_t{header.width} * header.height * 16;
  Source source{.file = file};
  const Tiff tiff = open_tiff(source, most_memory);
  const auto failed = [&](const char* otherwise) {
    return damaged(std::string("TIFF is damaged: ") + (source.message[0] != 0 ? source.message : otherwise));
  };
  if (tiff == nullptr) return failed("its header");
  Layout layout = read_layout(tiff.get());
  const bool on_its_side = layout.orientation >= 5 && layout.orientation <= 8;
  const Size size = on_its_side ? Size{header.height, header.width} : Size{header.width, header.height};
  Size found;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &found.width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &found.height);
  if (found != size) return failed("two sizes");
  if (const char* reason = objection(layout)) return unsupported(reason);
  if (layout.photometric == PHOTOMETRIC_PALETTE && !read_palette(tiff.get(), layout)) return failed("its palette");
  if (layout.photometric == PHOTOMETRIC_YCBCR) {
    TIFFSetField(tiff.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  }
  const bool turned = layout.orientation >= 2 && layout.orientation <= 8;
  RgbImage stored;
  RgbImage& target = turned ? stored : out;
  const RgbView view = target.resize(size);
  if (ImageResult result = PieceReader(tiff.get(), layout, size).read(most_memory, view); !result.ok()) {
    return source.message[0] != 0 ? failed("") : result;
  }
  if (turned) apply_orientation(std::as_const(stored).view(), layout.orientation, out);
  return {};
}

}  // namespace imgpack::other
