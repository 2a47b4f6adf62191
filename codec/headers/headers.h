// One header parser an image type, behind read_image_header(). Not part of the public interface.
//
// Each parser is called only with bytes that carry its type's signature. It reports what Pillow 9.4's Image.open would
// find; sizes of zero and sizes beyond the limit are judged by the caller.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "codec/headers/byte_reader.h"
#include "codec/image_header.h"

namespace imgpack::headers {

struct Refusal {
  ImageHeaderStatus status = ImageHeaderStatus::malformed;
  std::string reason;
};

struct ParsedHeader {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint8_t channels = 0;
};

using ParseResult = std::variant<ParsedHeader, Refusal>;

inline Refusal truncated(std::string reason) {
  return {ImageHeaderStatus::truncated, std::move(reason)};
}
inline Refusal malformed(std::string reason) {
  return {ImageHeaderStatus::malformed, std::move(reason)};
}

/// ITU-T T.81 annex B, JFIF, Exif and MPF as far as they decide whether a file opens.
ParseResult parse_jpeg_header(Bytes bytes);
/// PNG specification (third edition), with APNG.
ParseResult parse_png_header(Bytes bytes);
/// RFC 9649. The whole container is walked, because libwebp opens complete files only.
ParseResult parse_webp_header(Bytes bytes);
/// Windows bitmaps with 40 to 124 byte headers, and OS/2 1.x and 2.x.
ParseResult parse_bmp_header(Bytes bytes);
/// TIFF 6.0, and BigTIFF in little-endian order.
ParseResult parse_tiff_header(Bytes bytes);
/// GIF87a and GIF89a, up to the first image.
ParseResult parse_gif_header(Bytes bytes);

}  // namespace imgpack::headers
