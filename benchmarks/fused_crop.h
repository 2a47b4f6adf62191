// A crop of an indexed JPEG file, resized while it is decoded: what imgpack does for a training image.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>

#include "benchmarks/jpeg_sample.h"
#include "codec/jpeg/crop_decoder.h"
#include "codec/resize/resizer.h"

namespace imgpack {

inline constexpr Size kTrainingSize = {224, 224};

inline ResizeOptions resize_crop(const Rect& crop) {
  const Size size = {crop.width, crop.height};
  return {.source = size, .box = whole(size), .interpolation = Interpolation::bilinear};
}

class FusedCrop {
 public:
  /// The crop in `out`'s size, bilinear. Throws std::runtime_error if the file and its index do not fit.
  void run(std::span<const std::byte> file, std::span<const std::byte> index_bytes, const Rect& crop, RgbView out) {
    const jpeg::SegmentIndex index = open_index(index_bytes, file);
    resizer_.start(resize_crop(crop), out);
    if (!decoder_.decode(file, index, crop, resizer_).ok()) throw std::runtime_error("a segment does not decode");
  }

 private:
  jpeg::CropDecoder decoder_;
  Resizer resizer_;
};

}  // namespace imgpack
