// The combinations of sample layout that Pillow 9.4 reads from TIFF files.
#pragma once

#include <cstdint>
#include <span>

namespace imgpack::headers {

struct TiffLayout {
  double photometric = 0;
  double sample_format = 1;
  double fill_order = 1;
  bool big_endian = false;
  std::span<const double> bits;           ///< one a sample
  std::span<const double> extra_samples;  ///< meaning of the samples beyond the colours
};

struct TiffPixels {
  std::uint8_t channels = 0;  ///< 0: not a layout that is read
  bool palette = false;
  /// Planes that a file with separate planes may have: the length of Pillow's name for the layout, by which it picks
  /// a plane's part.
  std::uint8_t max_planes = 0;
};

TiffPixels find_tiff_pixels(const TiffLayout& layout);

}  // namespace imgpack::headers
