// How large an image becomes: the rounding of torchvision's Resize and CenterCrop.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "codec/image.h"
#include "imgpack/transform.h"

namespace imgpack {

struct ResizePlan {
  Size scaled;  ///< what the whole image is resized to
  Rect kept;    ///< the part of that which is kept
  bool changes(Size from) const noexcept { return scaled != from || Size{kept.width, kept.height} != scaled; }
};

/// For an image of size `from`, at least 1x1. A reason instead if the transform can't be applied to it.
std::variant<ResizePlan, std::string> plan_resize(Size from, const Transform& transform);

}  // namespace imgpack
