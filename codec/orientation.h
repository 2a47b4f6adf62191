// EXIF orientation: reading it from a file, and turning pixels by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/image.h"
#include "imgpack/record.h"

namespace imgpack {

/// How the pixels that the decoders give are to be turned: EXIF tag 0x0112 of a JPEG, PNG or WebP file, 1 to 8, as
/// Pillow's ImageOps.exif_transpose finds it (PNG: in XMP too); 1 where there is none or what is there makes no sense.
/// Always 1 for TIFF, whose decoder turns pixels itself, and for the other types, which have no such tag. Never reads
/// outside `file`. Throws std::bad_alloc.
int exif_orientation(std::span<const std::byte> file, Codec codec);

/// `source` turned upright into `out`, which gets its size: width and height change places from 5 on.
/// REQUIRES: 1 <= orientation <= 8; `out` does not hold `source`.
void apply_orientation(ConstRgbView source, int orientation, RgbImage& out);

}  // namespace imgpack
