// What kind of image a byte sequence is, and its size, from its header alone. By content, never by name.
//
// Accepts what Pillow 9.4's Image.open accepts and refuses what it refuses, without decoding a pixel. Sources: ITU-T
// T.81 annex B (JPEG), the PNG specification, RFC 9649 (WebP), the BMP and GIF89a formats, TIFF 6.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "imgpack/record.h"

namespace imgpack {

struct ImageHeader {
  Codec codec = Codec::unknown;
  std::uint32_t width = 0;  ///< pixels, as decoders show it: EXIF orientation is not applied, TIFF's own is
  std::uint32_t height = 0;
  std::uint8_t channels = 0;  ///< of the encoded image: 1 gray or palette, 2 gray+alpha, 3, 4
};

enum class ImageHeaderStatus : std::uint8_t {
  ok,
  empty,         ///< no bytes at all
  unrecognised,  ///< no known image type begins like this
  truncated,     ///< a known type that ends inside its header
  malformed,     ///< a known type whose header contradicts itself
  too_large,     ///< more than max_pixels
};

struct ImageHeaderResult {
  ImageHeaderStatus status = ImageHeaderStatus::unrecognised;
  ImageHeader header;  ///< complete only if status is ok
  std::string reason;  ///< for people, empty if ok: "JPEG ends inside its APP13 segment"
};

/// Never throws for any content; reads no byte outside `bytes`. Time is linear in the size of the header part.
ImageHeaderResult read_image_header(std::span<const std::byte> bytes, std::uint64_t max_pixels = kDefaultMaxPixels);

}  // namespace imgpack
