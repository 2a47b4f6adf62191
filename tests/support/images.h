// Small real images, the same bytes on every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace imgpack::testing {

enum class JpegColor { ycbcr, rgb, cmyk, ycck };

/// Sampling factors of a component, 1 to 4.
struct JpegSampling {
  int h = 1;
  int v = 1;
};

struct JpegOptions {
  int quality = 90;
  bool gray = false;  ///< one component; `color` is of no meaning then
  bool progressive = false;
  JpegColor color = JpegColor::ycbcr;
  std::vector<JpegSampling> sampling;  ///< by component; empty: libjpeg's default, which is 4:2:0 for YCbCr
  unsigned restart_interval = 0;       ///< MCUs; 0: no restart markers
  bool arithmetic = false;
  bool optimize = false;        ///< Huffman tables made for the image
  bool separate_scans = false;  ///< sequential, a scan for each component
  bool quant_16bit = false;     ///< quantisation tables with a value above 255
  int orientation = 0;          ///< EXIF; 0: no EXIF
  int noise = 24;               ///< strength of the noise, 1 to 256: at 256 there is nothing but noise
};

/// A JPEG of smooth noise that depends on `seed`. Throws std::runtime_error where libjpeg can't write that.
std::vector<std::byte> make_jpeg(int width, int height, std::uint32_t seed, const JpegOptions& options = {});
/// An 8-bit RGB PNG.
std::vector<std::byte> make_png(int width, int height, std::uint32_t seed);

/// folder/train/<class>/<name>.JPEG and folder/val/..., `per_class` images in train and a third of that (at least 1) in
/// val.
void make_image_folder(const std::filesystem::path& folder, int classes, int per_class, std::uint32_t seed = 1);

}  // namespace imgpack::testing
