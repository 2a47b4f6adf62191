// What torchvision 0.14's transforms draw at random (get_params of transforms.py), from our random numbers: the same
// distributions, with 53 random bits where it has 24, and the same rounding.
#pragma once

#include <optional>
#include <vector>

#include "codec/image.h"
#include "imgpack/augmentation.h"
#include "reader/augment/sample_plan.h"
#include "reader/random/random_stream.h"

namespace imgpack {

/// The part that RandomResizedCrop takes of an image of that size. Where its fallback would round a side to 0, which is
/// an error in torchvision, the side is 1.
Rect draw_resized_crop(const RandomResizedCrop& step, Size source, RandomStream& random);

/// The rectangle that RandomErasing erases, without its probability: smaller than the image in both directions, or
/// nothing if ten tries made none.
std::optional<Rect> draw_erased_rect(const RandomErasing& step, Size image, RandomStream& random);

/// ColorJitter's operations in the order in which they are applied; those whose strength is 0 are left out.
std::vector<ColorOp> draw_color_ops(const ColorJitter& step, RandomStream& random);

}  // namespace imgpack
