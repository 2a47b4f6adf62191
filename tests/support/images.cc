#include "tests/support/images.h"

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <span>
#include <stdexcept>

#include <fmt/format.h>
#include <jpeglib.h>
#include <zlib.h>

#include "tests/support/files.h"

namespace imgpack::testing {

namespace {

/// A small linear congruential generator: tests need the same bytes on every platform.
class Noise {
 public:
  explicit Noise(std::uint32_t seed) : state_(seed * 2654435761u + 12345u) {}
  std::uint32_t next() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;
  }

 private:
  std::uint32_t state_;
};

std::vector<std::uint8_t> make_pixels(int width, int height, int channels, std::uint32_t seed, int strength = 24) {
  Noise noise(seed);
  const int step_x = static_cast<int>(noise.next() % 5) + 1;
  const int step_y = static_cast<int>(noise.next() % 5) + 1;
  const auto amplitude = static_cast<std::uint32_t>(strength);
  std::vector<std::uint8_t> pixels;
  pixels.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
                 static_cast<std::size_t>(channels));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const int base = x * step_x + y * step_y + c * 70 + static_cast<int>(noise.next() % amplitude);
        pixels.push_back(static_cast<std::uint8_t>(base & 0xff));
      }
    }
  }
  return pixels;
}

void append_chunk(std::vector<std::byte>& out, const char* type, std::span<const std::uint8_t> body) {
  const auto push_be32 = [&out](std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::byte>(value >> shift & 0xff));
  };
  push_be32(static_cast<std::uint32_t>(body.size()));
  std::vector<std::uint8_t> covered(type, type + 4);
  covered.insert(covered.end(), body.begin(), body.end());
  for (const std::uint8_t byte : covered) out.push_back(static_cast<std::byte>(byte));
  push_be32(static_cast<std::uint32_t>(::crc32(0, covered.data(), static_cast<uInt>(covered.size()))));
}

[[noreturn]] void throw_message(j_common_ptr jpeg) {
  char message[JMSG_LENGTH_MAX];
  jpeg->err->format_message(jpeg, message);
  throw std::runtime_error(message);
}

void ignore_message(j_common_ptr, int) {}

/// A compressor that writes into memory.
struct Encoder {
  Encoder() {
    jpeg.err = jpeg_std_error(&errors);
    errors.error_exit = throw_message;
    errors.emit_message = ignore_message;
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &memory, &size);
  }
  ~Encoder() {
    jpeg_destroy_compress(&jpeg);
    std::free(memory);
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  unsigned char* memory = nullptr;
  unsigned long size = 0;
};

bool has_four_channels(const JpegOptions& options) {
  return options.color == JpegColor::cmyk || options.color == JpegColor::ycck;
}

int channel_count(const JpegOptions& options) {
  if (options.gray) return 1;
  return has_four_channels(options) ? 4 : 3;
}

J_COLOR_SPACE file_color_space(const JpegOptions& options) {
  if (options.gray) return JCS_GRAYSCALE;
  switch (options.color) {
    case JpegColor::ycbcr:
      return JCS_YCbCr;
    case JpegColor::rgb:
      return JCS_RGB;
    case JpegColor::cmyk:
      return JCS_CMYK;
    case JpegColor::ycck:
      return JCS_YCCK;
  }
  return JCS_UNKNOWN;
}

void configure(const JpegOptions& options, jpeg_compress_struct& jpeg) {
  jpeg.in_color_space = options.gray ? JCS_GRAYSCALE : has_four_channels(options) ? JCS_CMYK : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_colorspace(&jpeg, file_color_space(options));
  jpeg_set_quality(&jpeg, options.quality, TRUE);
  jpeg.arith_code = options.arithmetic ? TRUE : FALSE;
  jpeg.optimize_coding = options.optimize ? TRUE : FALSE;
  jpeg.restart_interval = options.restart_interval;
  for (std::size_t c = 0; c < options.sampling.size(); ++c) {
    jpeg.comp_info[c].h_samp_factor = options.sampling[c].h;
    jpeg.comp_info[c].v_samp_factor = options.sampling[c].v;
  }
  if (options.quant_16bit) {
    for (JQUANT_TBL* table : jpeg.quant_tbl_ptrs) {
      if (table != nullptr) table->quantval[DCTSIZE2 - 1] = 300;
    }
  }
  if (options.progressive) jpeg_simple_progression(&jpeg);
}

/// A script of one scan for each component.
std::vector<jpeg_scan_info> separate_scans(int components) {
  std::vector<jpeg_scan_info> scans(static_cast<std::size_t>(components));
  for (int c = 0; c < components; ++c) {
    jpeg_scan_info& scan = scans[static_cast<std::size_t>(c)];
    scan.comps_in_scan = 1;
    scan.component_index[0] = c;
    scan.Se = DCTSIZE2 - 1;
  }
  return scans;
}

void write_orientation(jpeg_compress_struct& encoder, int orientation) {
  const std::uint8_t exif[] = {'E',  'x',  'i',  'f', 0, 0,  // then a TIFF directory of one entry
                               'I',  'I',  0x2a, 0,   8, 0, 0, 0, 1,
                               0,  //
                               0x12, 0x01, 3,    0,   1, 0, 0, 0, static_cast<std::uint8_t>(orientation),
                               0,    0,    0,    0,   0, 0, 0};
  jpeg_write_marker(&encoder, JPEG_APP0 + 1, exif, sizeof exif);
}

}  // namespace

std::vector<std::byte> make_jpeg(int width, int height, std::uint32_t seed, const JpegOptions& options) {
  const int channels = channel_count(options);
  std::vector<std::uint8_t> pixels = make_pixels(width, height, channels, seed, options.noise);

  Encoder encoder;
  jpeg_compress_struct& jpeg = encoder.jpeg;
  jpeg.image_width = static_cast<JDIMENSION>(width);
  jpeg.image_height = static_cast<JDIMENSION>(height);
  jpeg.input_components = channels;
  configure(options, jpeg);
  const std::vector<jpeg_scan_info> scans = separate_scans(channels);
  if (options.separate_scans) {
    jpeg.scan_info = scans.data();
    jpeg.num_scans = channels;
  }
  jpeg_start_compress(&jpeg, TRUE);
  if (options.orientation != 0) write_orientation(jpeg, options.orientation);
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW row =
        pixels.data() + static_cast<std::size_t>(jpeg.next_scanline) * static_cast<std::size_t>(width * channels);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  const auto* begin = reinterpret_cast<const std::byte*>(encoder.memory);
  return {begin, begin + encoder.size};
}

std::vector<std::byte> make_png(int width, int height, std::uint32_t seed) {
  const std::vector<std::uint8_t> pixels = make_pixels(width, height, 3, seed);
  std::vector<std::uint8_t> rows;
  const std::size_t stride = static_cast<std::size_t>(width) * 3;
  for (int y = 0; y < height; ++y) {
    rows.push_back(0);  // filter: none
    const auto* row = pixels.data() + static_cast<std::size_t>(y) * stride;
    rows.insert(rows.end(), row, row + stride);
  }
  std::vector<std::uint8_t> compressed(::compressBound(static_cast<uLong>(rows.size())));
  uLongf compressed_size = static_cast<uLongf>(compressed.size());
  ::compress2(compressed.data(), &compressed_size, rows.data(), static_cast<uLong>(rows.size()), 6);
  compressed.resize(compressed_size);

  std::vector<std::byte> out;
  for (const int byte : std::initializer_list<int>{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'})
    out.push_back(static_cast<std::byte>(byte));
  std::vector<std::uint8_t> header;
  for (const int value : {width, height}) {
    for (int shift = 24; shift >= 0; shift -= 8) header.push_back(static_cast<std::uint8_t>(value >> shift & 0xff));
  }
  for (const int value : {8, 2, 0, 0, 0}) header.push_back(static_cast<std::uint8_t>(value));
  append_chunk(out, "IHDR", header);
  append_chunk(out, "IDAT", compressed);
  append_chunk(out, "IEND", {});
  return out;
}

void make_image_folder(const std::filesystem::path& folder, int classes, int per_class, std::uint32_t seed) {
  for (const bool train : {true, false}) {
    const int count = train ? per_class : std::max(1, per_class / 3);
    for (int c = 0; c < classes; ++c) {
      for (int i = 0; i < count; ++i) {
        const std::uint32_t image_seed = seed + static_cast<std::uint32_t>(c * 100003 + i * 17 + (train ? 0 : 7));
        JpegOptions options;
        options.gray = image_seed % 13 == 0;
        const int width = 32 + static_cast<int>(image_seed % 61);
        const int height = 32 + static_cast<int>(image_seed % 47);
        const std::string class_name = fmt::format("n{:08d}", c + 1);
        write_file(folder / (train ? "train" : "val") / class_name / fmt::format("{}_{}.JPEG", class_name, i),
                   make_jpeg(width, height, image_seed, options));
      }
    }
  }
}

}  // namespace imgpack::testing
