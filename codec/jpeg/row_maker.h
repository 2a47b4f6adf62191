// From decoded samples to pixel rows: upsampling and colour conversion.
#pragma once

#include <array>
#include <cstdint>

#include "codec/image.h"
#include "codec/jpeg/crop_plan.h"
#include "codec/jpeg/sample_rows.h"

namespace imgpack::jpeg {

/// Not thread-safe; keeps its memory from image to image.
class RowMaker {
 public:
  /// `samples`: one for each component, outlives the calls of make().
  void start(const Frame& frame, const CropPlan& plan, const Rect& crop,
             std::array<SampleRows, kMaxComponents>& samples);
  /// MCU row `mcu_row` has been decoded: gives its samples neighbours beyond the image's edges, where upsampling looks
  /// for them.
  void extend_edges(std::uint32_t mcu_row);
  /// Pixels [crop.x, crop.x + crop.width) of the image's row y into `rgb`. REQUIRES: the samples of row y and those
  /// that upsampling mixes in have been decoded.
  void make(std::uint32_t y, std::uint8_t* rgb);

 private:
  /// Samples of component c at full width for pixel row y, from pixel crop.x on.
  const std::uint8_t* full_row(std::uint32_t c, std::uint32_t y);

  Frame frame_;
  CropPlan plan_;
  Rect crop_;
  std::array<SampleRows, kMaxComponents>* samples_ = nullptr;
  std::array<ByteBuffer, kMaxComponents> upsampled_;
};

}  // namespace imgpack::jpeg
