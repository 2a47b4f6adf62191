#include "codec/jpeg/jpeg_test_support.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <jpeglib.h>

namespace imgpack::jpeg::testing {

namespace {

using imgpack::testing::JpegColor;
using imgpack::testing::JpegOptions;
using imgpack::testing::JpegSampling;

[[noreturn]] void throw_message(j_common_ptr jpeg) {
  char message[JMSG_LENGTH_MAX];
  jpeg->err->format_message(jpeg, message);
  throw std::runtime_error(message);
}

void count_warnings(j_common_ptr jpeg, int level) {
  if (level < 0) ++jpeg->err->num_warnings;
}

jpeg_error_mgr error_handlers() {
  jpeg_error_mgr errors;
  jpeg_std_error(&errors);
  errors.error_exit = throw_message;
  errors.emit_message = count_warnings;
  return errors;
}

/// A decompressor that has read the file's header.
struct Decoder {
  explicit Decoder(std::span<const std::byte> file) {
    jpeg.err = &errors;
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(file.data()), static_cast<unsigned long>(file.size()));
  }
  ~Decoder() { jpeg_destroy_decompress(&jpeg); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  jpeg_error_mgr errors = error_handlers();
  jpeg_decompress_struct jpeg{};
};

Reference decode(std::span<const std::byte> file, J_COLOR_SPACE color, unsigned scale_denom, std::uint64_t max_pixels) {
  Reference result;
  Decoder decoder(file);
  jpeg_decompress_struct& jpeg = decoder.jpeg;
  try {
    jpeg_read_header(&jpeg, TRUE);
    if (std::uint64_t{jpeg.image_width} * jpeg.image_height > max_pixels) throw std::runtime_error("too large");
    jpeg.out_color_space = color;
    jpeg.scale_num = 1;
    jpeg.scale_denom = scale_denom;
    jpeg_start_decompress(&jpeg);
    result.size = {jpeg.output_width, jpeg.output_height};
    result.channels = static_cast<std::uint32_t>(jpeg.output_components);
    const std::size_t stride = static_cast<std::size_t>(jpeg.output_width) * result.channels;
    result.pixels.resize(stride * jpeg.output_height);
    while (jpeg.output_scanline < jpeg.output_height) {
      JSAMPROW row = result.pixels.data() + jpeg.output_scanline * stride;
      jpeg_read_scanlines(&jpeg, &row, 1);
    }
    result.ok = true;
  } catch (const std::runtime_error& error) {
    result.message = error.what();
  }
  result.warnings = decoder.errors.num_warnings;
  return result;
}

/// A compressor that writes into memory.
struct CoefficientEncoder {
  CoefficientEncoder() {
    jpeg.err = &errors;
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &memory, &size);
  }
  ~CoefficientEncoder() {
    jpeg_destroy_compress(&jpeg);
    std::free(memory);
  }
  CoefficientEncoder(const CoefficientEncoder&) = delete;
  CoefficientEncoder& operator=(const CoefficientEncoder&) = delete;

  jpeg_error_mgr errors = error_handlers();
  jpeg_compress_struct jpeg{};
  unsigned char* memory = nullptr;
  unsigned long size = 0;
};

void configure(int components, std::uint32_t blocks_x, std::uint32_t blocks_y, std::span<const std::uint16_t> quant,
               jpeg_compress_struct& jpeg) {
  jpeg.image_width = blocks_x * kBlockSize;
  jpeg.image_height = blocks_y * kBlockSize;
  jpeg.input_components = components;
  jpeg.in_color_space = components == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
  jpeg_set_defaults(&jpeg);
  jpeg.optimize_coding = TRUE;
  for (int c = 0; c < components; ++c) {
    jpeg.comp_info[c].h_samp_factor = 1;
    jpeg.comp_info[c].v_samp_factor = 1;
    // These are set by jpeg_start_compress() for those who write pixels, and by the source for those who copy.
    jpeg.comp_info[c].width_in_blocks = blocks_x;
    jpeg.comp_info[c].height_in_blocks = blocks_y;
  }
  for (JQUANT_TBL* table : jpeg.quant_tbl_ptrs) {
    if (table != nullptr) std::ranges::copy(quant, table->quantval);
  }
}

}  // namespace

bool Reference::equals(ConstRgbView crop, const Rect& rect) const {
  if (!ok || channels != RgbImage::kChannels || crop.width != rect.width || crop.height != rect.height) return false;
  const std::size_t stride = static_cast<std::size_t>(size.width) * channels;
  for (std::uint32_t y = 0; y < rect.height; ++y) {
    const std::uint8_t* row = pixels.data() + (rect.y + y) * stride + static_cast<std::size_t>(rect.x) * channels;
    if (std::memcmp(row, crop.row(y), static_cast<std::size_t>(rect.width) * channels) != 0) return false;
  }
  return true;
}

Reference decode_rgb(std::span<const std::byte> file, std::uint64_t max_pixels) {
  return decode(file, JCS_RGB, 1, max_pixels);
}

Reference decode_gray(std::span<const std::byte> file) {
  return decode(file, JCS_GRAYSCALE, 1, 1u << 27);
}

Reference decode_eighth(std::span<const std::byte> file) {
  return decode(file, JCS_RGB, kBlockSize, 1u << 27);
}

std::vector<Coefficients> read_coefficients(std::span<const std::byte> file) {
  Decoder decoder(file);
  jpeg_decompress_struct& jpeg = decoder.jpeg;
  jpeg_read_header(&jpeg, TRUE);
  jvirt_barray_ptr* arrays = jpeg_read_coefficients(&jpeg);
  std::vector<Coefficients> result(static_cast<std::size_t>(jpeg.num_components));
  for (std::size_t c = 0; c < result.size(); ++c) {
    const jpeg_component_info& info = jpeg.comp_info[c];
    const bool alone = jpeg.num_components == 1;  // then MCUs are of one block
    const auto h = static_cast<JDIMENSION>(alone ? 1 : info.h_samp_factor);
    const auto v = static_cast<JDIMENSION>(alone ? 1 : info.v_samp_factor);
    const JDIMENSION columns = (info.width_in_blocks + h - 1) / h * h;
    const JDIMENSION rows = (info.height_in_blocks + v - 1) / v * v;
    result[c].blocks_per_row = columns;
    for (JDIMENSION y = 0; y < rows; ++y) {
      JBLOCKARRAY blocks = jpeg.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&jpeg), arrays[c], y, 1, FALSE);
      const auto* first = reinterpret_cast<const std::int16_t*>(blocks[0]);
      result[c].values.insert(result[c].values.end(), first, first + std::size_t{columns} * kBlockCoefficients);
    }
  }
  return result;
}

Bytes write_coefficients(
    int components, std::uint32_t blocks_x, std::uint32_t blocks_y, std::span<const std::uint16_t> quant,
    const std::function<void(int c, std::uint32_t x, std::uint32_t y, std::span<std::int16_t> block)>& fill) {
  CoefficientEncoder encoder;
  jpeg_compress_struct& jpeg = encoder.jpeg;
  configure(components, blocks_x, blocks_y, quant, jpeg);
  const auto common = reinterpret_cast<j_common_ptr>(&jpeg);
  std::vector<jvirt_barray_ptr> arrays;
  for (int c = 0; c < components; ++c) {
    arrays.push_back(jpeg.mem->request_virt_barray(common, JPOOL_IMAGE, TRUE, blocks_x, blocks_y, 1));
  }
#if JPEG_LIB_VERSION >= 70  // where sizes can differ, and this way of writing does not set the second
  jpeg.jpeg_width = jpeg.image_width;
  jpeg.jpeg_height = jpeg.image_height;
#endif
  jpeg_write_coefficients(&jpeg, arrays.data());
  for (int c = 0; c < components; ++c) {
    for (std::uint32_t y = 0; y < blocks_y; ++y) {
      JBLOCKARRAY blocks = jpeg.mem->access_virt_barray(common, arrays[static_cast<std::size_t>(c)], y, 1, TRUE);
      for (std::uint32_t x = 0; x < blocks_x; ++x) fill(c, x, y, blocks[0][x]);
    }
  }
  jpeg_finish_compress(&jpeg);
  const auto* begin = reinterpret_cast<const std::byte*>(encoder.memory);
  return {begin, begin + encoder.size};
}

const std::vector<std::vector<JpegSampling>>& all_samplings() {
  static const std::vector<std::vector<JpegSampling>> kAll = {
      {{1, 1}, {1, 1}, {1, 1}},
      {{2, 1}, {1, 1}, {1, 1}},
      {{1, 2}, {1, 1}, {1, 1}},
      {{2, 2}, {1, 1}, {1, 1}},
      {{4, 1}, {1, 1}, {1, 1}},
      {{1, 4}, {1, 1}, {1, 1}},
      {{4, 2}, {1, 1}, {1, 1}},
      {{2, 4}, {1, 1}, {1, 1}},
      {{3, 1}, {1, 1}, {1, 1}},
      {{1, 3}, {1, 1}, {1, 1}},
      {{3, 2}, {1, 1}, {1, 1}},
      {{2, 3}, {1, 1}, {1, 1}},
      // Chroma planes that differ.
      {{2, 2}, {2, 1}, {1, 2}},
      {{2, 2}, {1, 2}, {2, 1}},
      {{2, 2}, {2, 2}, {1, 1}},
      {{2, 2}, {1, 1}, {2, 2}},
      {{2, 1}, {2, 1}, {1, 1}},
      {{1, 2}, {1, 1}, {1, 2}},
      {{4, 1}, {2, 1}, {1, 1}},
      {{1, 4}, {1, 1}, {1, 2}},
      {{4, 1}, {4, 1}, {1, 1}},
      {{4, 2}, {1, 1}, {1, 1}},
      {{2, 4}, {1, 1}, {1, 1}},
      {{3, 1}, {3, 1}, {1, 1}},
      // Subsampled both ways by one factor, or written as a multiple of what would do.
      {{2, 2}, {1, 2}, {1, 2}},
      {{2, 2}, {2, 1}, {2, 1}},
      {{4, 1}, {2, 1}, {2, 1}},
      {{1, 4}, {1, 2}, {1, 2}},
      {{2, 1}, {2, 1}, {2, 1}},
      {{1, 2}, {1, 2}, {1, 2}},
      {{3, 1}, {3, 1}, {3, 1}},
      // Luma that is subsampled itself.
      {{1, 1}, {2, 2}, {1, 1}},
      {{1, 1}, {2, 1}, {2, 1}},
      {{1, 1}, {1, 2}, {1, 2}},
      {{2, 1}, {1, 2}, {1, 1}},
      {{1, 2}, {2, 1}, {2, 2}},
      {{1, 1}, {4, 1}, {2, 1}},
      {{1, 1}, {2, 2}, {2, 2}},
      {{1, 1}, {1, 1}, {4, 2}},
  };
  return kAll;
}

JpegOptions random_options(Random& random) {
  JpegOptions options;
  options.quality = static_cast<int>(1 + random() % 100);
  options.gray = random() % 8 == 0;
  if (random() % 8 == 0) options.color = JpegColor::rgb;
  if (!options.gray) options.sampling = all_samplings()[random() % all_samplings().size()];
  if (random() % 3 == 0) options.restart_interval = 1 + random() % 12;
  options.optimize = random() % 3 == 0;
  options.quant_16bit = random() % 6 == 0;
  constexpr int kNoise[] = {1, 24, 100, 256};
  options.noise = kNoise[random() % std::size(kNoise)];
  return options;
}

Rect random_crop(Random& random, Size size) {
  const auto side = [&random](std::uint32_t whole, std::uint32_t& begin, std::uint32_t& length) {
    const std::uint32_t most = random() % 3 == 0 ? std::min<std::uint32_t>(whole, 9) : whole;
    length = 1 + random() % most;
    switch (random() % 4) {
      case 0:
        begin = 0;
        break;
      case 1:
        begin = whole - length;
        break;
      default:
        begin = random() % (whole - length + 1);
    }
  };
  Rect crop;
  side(size.width, crop.x, crop.width);
  side(size.height, crop.y, crop.height);
  return crop;
}

Bytes index_of(std::span<const std::byte> file, const IndexOptions& options) {
  IndexBuilder builder;
  ByteBuffer index;
  const Indexability result = builder.build(file, options, index);
  if (result != Indexability::indexable) throw std::runtime_error("no index: " + std::string(to_string(result)));
  return {index.bytes().begin(), index.bytes().end()};
}

std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace imgpack::jpeg::testing
