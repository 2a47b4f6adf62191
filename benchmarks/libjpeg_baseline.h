// libjpeg-turbo called as well as it can be: one object for all files, data in memory, rows written where they belong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include <jpeglib.h>

#include "codec/image.h"

namespace imgpack {

/// The files must be good: an error ends the program. Not thread-safe.
class LibjpegBaseline {
 public:
  LibjpegBaseline();
  ~LibjpegBaseline();
  LibjpegBaseline(const LibjpegBaseline&) = delete;
  LibjpegBaseline& operator=(const LibjpegBaseline&) = delete;

  /// Entropy decoding alone.
  void read_coefficients(std::span<const std::byte> file);
  /// The whole image, in pixels of 3 bytes.
  void decode(std::span<const std::byte> file, RgbImage& out);
  /// The crop's rows by jpeg_skip_scanlines() and jpeg_crop_scanline(), which starts at whole MCUs: `out` may have
  /// columns left of the crop, and their number is returned. Pixels at the crop's edges can differ from decode()'s.
  std::uint32_t decode_part(std::span<const std::byte> file, const Rect& crop, RgbImage& out);

 private:
  void start(std::span<const std::byte> file);
  void read_rows(RgbView out);

  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  std::vector<JSAMPROW> rows_;
};

}  // namespace imgpack
