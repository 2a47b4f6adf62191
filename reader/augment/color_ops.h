// Color operations on 8-bit RGB, bit for bit as torchvision 0.14 does them on Pillow 9.4's images.
//
//   brightness, contrast, saturation   ImageEnhance: a blend of black, of the mean gray, or of each pixel's gray, and
//                                      the image (Blend.c)
//   hue                                to HSV, the hue turned modulo 256, and back (Convert.c)
//   grayscale                          ITU-R 601-2 luma, Pillow's "L", in all three channels
#pragma once

#include "codec/image.h"
#include "reader/augment/sample_plan.h"

namespace imgpack {

/// In place. The mean for contrast is that of `image`, which has a pixel at least.
void apply_color(const ColorOp& op, RgbView image);

}  // namespace imgpack
