// The shape and type of a loader's batches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "imgpack/augmentation.h"
#include "imgpack/batch.h"

namespace imgpack {

/// What all batches of a loader have in common.
struct BatchFormat {
  ImageSize image;
  DType dtype = DType::f32;
  Layout layout = Layout::nchw;
  std::uint32_t soft_classes = 0;  ///< 0: no soft labels

  std::size_t image_bytes() const noexcept {
    return std::size_t{image.height} * image.width * Batch::channels() * size_of(dtype);
  }
};

}  // namespace imgpack
