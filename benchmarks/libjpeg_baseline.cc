#include "benchmarks/libjpeg_baseline.h"

#include <cstdlib>

namespace imgpack {

namespace {

[[noreturn]] void stop(j_common_ptr info) {
  (*info->err->output_message)(info);
  std::exit(1);
}

}  // namespace

LibjpegBaseline::LibjpegBaseline() {
  info_.err = jpeg_std_error(&errors_);
  errors_.error_exit = stop;
  jpeg_create_decompress(&info_);
}

LibjpegBaseline::~LibjpegBaseline() {
  jpeg_destroy_decompress(&info_);
}

void LibjpegBaseline::read_coefficients(std::span<const std::byte> file) {
  start(file);
  jpeg_read_coefficients(&info_);
  jpeg_finish_decompress(&info_);
}

void LibjpegBaseline::decode(std::span<const std::byte> file, RgbImage& out) {
  start(file);
  info_.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info_);
  read_rows(out.resize({info_.output_width, info_.output_height}));
  jpeg_finish_decompress(&info_);
}

std::uint32_t LibjpegBaseline::decode_part(std::span<const std::byte> file, const Rect& crop, RgbImage& out) {
  start(file);
  info_.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info_);
  JDIMENSION left = crop.x;
  JDIMENSION width = crop.width;
  jpeg_crop_scanline(&info_, &left, &width);
  jpeg_skip_scanlines(&info_, crop.y);
  read_rows(out.resize({info_.output_width, crop.height}));
  jpeg_abort_decompress(&info_);
  return crop.x - left;
}

void LibjpegBaseline::start(std::span<const std::byte> file) {
  jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&info_, TRUE);
}

void LibjpegBaseline::read_rows(RgbView out) {
  rows_.resize(out.height);
  for (std::uint32_t y = 0; y < out.height; ++y) rows_[y] = out.row(y);
  for (JDIMENSION y = 0; y < out.height;) y += jpeg_read_scanlines(&info_, rows_.data() + y, out.height - y);
}

}  // namespace imgpack
