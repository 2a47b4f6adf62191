// RandomErasing on a finished image.
#pragma once

#include <cstddef>

#include "codec/image.h"
#include "reader/augment/augmenter.h"
#include "reader/augment/sample_plan.h"

namespace imgpack {

/// Fills the rectangle in the image of that size and format at `image`. REQUIRES: it lies in the image, or is empty.
void erase(const Erasing& erasing, const PixelFormat& format, Size size, std::byte* image);

}  // namespace imgpack
