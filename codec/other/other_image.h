// Images that are not JPEG: PNG, WebP, BMP, TIFF and GIF.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "codec/image.h"
#include "codec/image_result.h"
#include "imgpack/record.h"

namespace imgpack {

/// Whether this build can decode such files at all.
bool other_image_available(Codec codec) noexcept;

/// Decodes the first picture of the file as Pillow 9.4's convert("RGB") shows it: palettes applied, alpha dropped,
/// gray replicated, 16-bit gray clipped at 255, 16-bit colour cut to its high byte. What it does not match it refuses
/// as unsupported; codec/README.md lists that. `out` has the size that read_image_header() tells. TIFF is turned
/// upright, as in Pillow, other types are not. Needs, beside `out`, up to 16 bytes a pixel and 64 MiB. Throws
/// std::bad_alloc. Thread-safe.
ImageResult decode_other_image(std::span<const std::byte> file, Codec codec, std::uint64_t max_pixels, RgbImage& out);

}  // namespace imgpack
