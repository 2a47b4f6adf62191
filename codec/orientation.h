// EXIF orientation: reading it from a file, and turning pixels by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/image.h"
#include "imgpack/record.h"

namespace imgpack {

/// EXIF tag 0x0112 of a JPEG, PNG, WebP or TIFF file, 1 to 8, as Pillow's ImageOps.exif_transpose finds it; 1 where
/// there is none or what is there makes no sense. Never reads outside `file`.
int exif_orientation(std::span<const std::byte> file, Codec codec) noexcept;

/// `source` turned upright into `out` (which gets its size). REQUIRES: 1 <= orientation <= 8.
void apply_orientation(ConstRgbView source, int orientation, RgbImage& out);

}  // namespace imgpack
