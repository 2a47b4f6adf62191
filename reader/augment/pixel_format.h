// What the values of a batch are.
#pragma once

#include <optional>

#include "imgpack/augmentation.h"
#include "imgpack/batch.h"

namespace imgpack {

/// What finished pixels are stored as.
struct PixelFormat {
  DType dtype = DType::f32;
  Layout layout = Layout::nchw;
  std::optional<Normalize> normalize = {};  ///< floating point only; without it values are divided by 255
};

}  // namespace imgpack
