// What has to be decoded of a JPEG image so that a crop of it can be shown. For host and device.
//
// "Fancy" upsampling looks at the neighbours of each sample, so a crop needs up to one sample more on each side than it
// covers: with it the crop's pixels are those of the whole image.
#pragma once

#include <cstdint>

#include "codec/host_device.h"
#include "codec/image.h"
#include "codec/jpeg/frame.h"

namespace imgpack::jpeg {

/// How libjpeg (jinit_upsampler in jdsample.c) brings a component to full size.
enum class Upsampling : std::uint8_t { none, h2, v2, h2v2, replicate };

struct ComponentPlan {
  Upsampling upsampling = Upsampling::none;
  std::uint32_t step_h = 1;  ///< pixels a sample stands for
  std::uint32_t step_v = 1;
  std::uint32_t width = 0;  ///< samples that the image uses
  std::uint32_t height = 0;

  IMGPACK_HD bool needs_columns_beside() const {
    return upsampling == Upsampling::h2 || upsampling == Upsampling::h2v2;
  }
  IMGPACK_HD bool needs_rows_beside() const { return upsampling == Upsampling::v2 || upsampling == Upsampling::h2v2; }
  /// The row that is mixed into the one that pixel row y lies in.
  IMGPACK_HD std::uint32_t row_beside(std::uint32_t y) const {
    const std::uint32_t row = y / step_v;
    if (y % step_v == 0) return row == 0 ? 0 : row - 1;
    return row + 1 < height ? row + 1 : row;
  }
};

/// MCUs [first, end) in each direction.
struct McuRange {
  std::uint32_t first = 0;
  std::uint32_t end = 0;
};

struct CropPlan {
  ComponentPlan components[kMaxComponents];
  McuRange columns;
  McuRange rows;
};

IMGPACK_HD inline ComponentPlan plan_component(const Frame& frame, std::uint32_t c) {
  ComponentPlan plan;
  plan.step_h = frame.max_h() / frame.components[c].h;
  plan.step_v = frame.max_v() / frame.components[c].v;
  plan.width = frame.component_width(c);
  plan.height = frame.component_height(c);
  const bool wide = plan.width > 2;  // libjpeg replicates what is narrower
  if (plan.step_h == 1 && plan.step_v == 1) {
    plan.upsampling = Upsampling::none;
  } else if (plan.step_h == 2 && plan.step_v == 1 && wide) {
    plan.upsampling = Upsampling::h2;
  } else if (plan.step_h == 1 && plan.step_v == 2) {
    plan.upsampling = Upsampling::v2;
  } else if (plan.step_h == 2 && plan.step_v == 2 && wide) {
    plan.upsampling = Upsampling::h2v2;
  } else {
    plan.upsampling = Upsampling::replicate;
  }
  return plan;
}

namespace crop_plan {
/// Widens `range` to the MCUs that hold the samples of pixels [begin, end) of a component, and `beside` more.
IMGPACK_HD inline void cover(McuRange& range, std::uint32_t begin, std::uint32_t end, std::uint32_t step,
                             std::uint32_t beside, std::uint32_t samples, std::uint32_t samples_in_mcu) {
  std::uint32_t first = begin / step;
  first = first > beside ? first - beside : 0;
  std::uint32_t last = (end - 1) / step + beside;
  last = last < samples ? last : samples - 1;
  first /= samples_in_mcu;
  last /= samples_in_mcu;
  range.first = first < range.first ? first : range.first;
  range.end = last + 1 > range.end ? last + 1 : range.end;
}
}  // namespace crop_plan

/// REQUIRES: valid geometry, and `crop` lies in the image.
IMGPACK_HD inline CropPlan plan_crop(const Frame& frame, const Rect& crop) {
  CropPlan plan;
  plan.columns = {frame.mcus_per_row(), 0};
  plan.rows = {frame.mcu_rows(), 0};
  for (std::uint32_t c = 0; c < frame.component_count; ++c) {
    if (c != 0 && frame.components[c].h == frame.components[c - 1].h &&
        frame.components[c].v == frame.components[c - 1].v) {
      plan.components[c] = plan.components[c - 1];  // and needs the same MCUs
      continue;
    }
    const ComponentPlan component = plan_component(frame, c);
    crop_plan::cover(plan.columns, crop.x, crop.x + crop.width, component.step_h,
                     component.needs_columns_beside() ? 1 : 0, component.width, kBlockSize * frame.components[c].h);
    crop_plan::cover(plan.rows, crop.y, crop.y + crop.height, component.step_v, component.needs_rows_beside() ? 1 : 0,
                     component.height, kBlockSize * frame.components[c].v);
    plan.components[c] = component;
  }
  return plan;
}

}  // namespace imgpack::jpeg
