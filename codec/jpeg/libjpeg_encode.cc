// Encoding pixels.
#include <new>

#include "codec/jpeg/libjpeg_state.h"
#include "imgpack/error.h"

namespace imgpack {

namespace {

void set_parameters(jpeg_compress_struct& info, const ConstRgbView& image, int quality, Subsampling subsampling,
                    unsigned restart_mcus) {
  info.image_width = image.width;
  info.image_height = image.height;
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  info.comp_info[0].h_samp_factor = subsampling == Subsampling::s444 ? 1 : 2;
  info.comp_info[0].v_samp_factor = subsampling == Subsampling::s420 ? 2 : 1;
  info.optimize_coding = TRUE;
  info.restart_interval = restart_mcus;
}

}  // namespace

void encode_jpeg(ConstRgbView image, int quality, Subsampling subsampling, unsigned restart_mcus, ByteBuffer& out) {
  JpegErrors errors;
  JpegWriter writer(out, std::size_t{image.width} * image.height / 3 + 4096, errors);
  jpeg_compress_struct& info = writer.info();
  const bool done = writer.ok() && errors.attempt([&] {
    set_parameters(info, image, quality, subsampling, restart_mcus);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
      auto* row = const_cast<JSAMPROW>(image.row(info.next_scanline));  // the interface lacks a const, it only reads
      jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
  });
  if (done) return;
  if (errors.out_of_memory()) throw std::bad_alloc();
  throw Error(ErrorCode::invalid_argument, errors.message());
}

}  // namespace imgpack
