// One decoder an image type, behind decode_other_image(). Not part of the public interface.
//
// Each is called with a file whose header has been read and whose size is allowed, so width * height * 3 bytes may be
// allocated; it must check whatever else it allocates by.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "codec/headers/byte_reader.h"
#include "codec/image_header.h"
#include "codec/other/other_image.h"

namespace imgpack::other {

using headers::Bytes;

inline ImageResult damaged(std::string reason) {
  return {ImageStatus::damaged, std::move(reason)};
}
inline ImageResult unsupported(std::string reason) {
  return {ImageStatus::unsupported, std::move(reason)};
}

/// A palette as Pillow keeps it: colours that a file does not give are a gray ramp.
class Palette {
 public:
  Palette() noexcept {
    for (int i = 0; i < 256; ++i)
      set(i, static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i));
  }
  void set(int index, std::uint8_t red, std::uint8_t green, std::uint8_t blue) noexcept {
    std::uint8_t* colour = colours_ + index * 3;
    colour[0] = red;
    colour[1] = green;
    colour[2] = blue;
  }
  /// Writes the three bytes of a colour.
  void put(std::uint8_t index, std::uint8_t* rgb) const noexcept {
    const std::uint8_t* colour = colours_ + index * 3;
    rgb[0] = colour[0];
    rgb[1] = colour[1];
    rgb[2] = colour[2];
  }

 private:
  std::uint8_t colours_[256 * 3];
};

inline void put_gray(unsigned value, std::uint8_t* rgb) noexcept {
  rgb[0] = rgb[1] = rgb[2] = static_cast<std::uint8_t>(value);
}

/// PNG specification (third edition); deflate by zlib.
ImageResult decode_png(Bytes file, const ImageHeader& header, RgbImage& out);
/// Windows bitmaps with 40 to 124 byte headers, and OS/2 1.x and 2.x.
ImageResult decode_bmp(Bytes file, const ImageHeader& header, RgbImage& out);
/// The first image on its screen, by giflib.
ImageResult decode_gif(Bytes file, const ImageHeader& header, RgbImage& out);
/// The image, or an animation's first frame on its canvas, by libwebp.
ImageResult decode_webp(Bytes file, const ImageHeader& header, RgbImage& out);
/// The first directory, by libtiff. Turned upright, as Pillow turns TIFF files while it loads them.
ImageResult decode_tiff(Bytes file, const ImageHeader& header, RgbImage& out);

}  // namespace imgpack::other
