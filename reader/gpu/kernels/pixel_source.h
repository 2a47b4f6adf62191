// Pixels of a stage's source as the horizontal pass reads them: upsampled and converted from a JPEG's planes, or packed
// RGB. As 0xBBGGRR. Device code only.
#pragma once

#include <cstdint>

#include "codec/jpeg/color.h"
#include "reader/gpu/kernels/packed_rgb.h"
#include "reader/gpu/program/jpeg_task.h"
#include "reader/gpu/program/stage_task.h"

namespace imgpack::gpu {

/// One row of one component, at full size.
struct ComponentRow {
  const std::uint8_t* near = nullptr;  ///< sample 0 of the image's row would be here
  const std::uint8_t* far = nullptr;   ///< the row that is mixed in
  std::uint32_t width = 0;             ///< samples that the image uses
  std::uint32_t step_h = 1;
  jpeg::Upsampling upsampling = jpeg::Upsampling::none;
  bool upper = false;

  __device__ std::uint32_t sample(std::uint32_t x) const {
    using jpeg::Upsampling;
    if (upsampling == Upsampling::none) return near[x];
    if (upsampling == Upsampling::v2) return jpeg::upsample_v2(near[x], far[x], upper);
    const std::uint32_t at = x / step_h;
    if (upsampling == Upsampling::replicate) return near[at];
    const bool left = x % 2 == 0;
    const std::uint32_t beside = left ? (at == 0 ? 0 : at - 1) : (at + 1 < width ? at + 1 : at);
    if (upsampling == Upsampling::h2) return jpeg::upsample_h2(near[at], near[beside], left);
    return jpeg::upsample_h2v2(3 * near[at] + far[at], 3 * near[beside] + far[beside], left);
  }
};

__device__ inline ComponentRow component_row(const JpegTask& task, std::uint32_t c, std::uint32_t y) {
  const jpeg::ComponentPlan& plan = task.plan.components[c];
  const jpeg::Component& component = task.index.frame.components[c];
  const JpegPlane& plane = task.planes[c];
  const std::uint32_t first_x = task.plan.columns.first * component.h * jpeg::kBlockSize;
  const std::uint32_t first_y = task.plan.rows.first * component.v * jpeg::kBlockSize;
  const auto row = [&](std::uint32_t at) {
    return plane.samples + static_cast<std::size_t>(at - first_y) * plane.stride - first_x;
  };
  ComponentRow made;
  made.near = row(y / plan.step_v);
  made.far = plan.needs_rows_beside() ? row(plan.row_beside(y)) : made.near;
  made.width = plan.width;
  made.step_h = plan.step_h;
  made.upsampling = plan.upsampling;
  made.upper = y % 2 == 0;
  return made;
}

/// A row of a decoded JPEG.
struct JpegRow {
  ComponentRow components[jpeg::kMaxComponents];
  jpeg::ColorModel color;

  __device__ JpegRow(const JpegTask& task, std::uint32_t y) : color(task.index.frame.color) {
    components[0] = component_row(task, 0, y);
    if (color == jpeg::ColorModel::gray) return;
    components[1] = component_row(task, 1, y);
    components[2] = component_row(task, 2, y);
  }
  __device__ std::uint32_t pixel(std::uint32_t x) const {
    const std::uint32_t first = components[0].sample(x);
    if (color == jpeg::ColorModel::gray) return pack_rgb(first, first, first);
    const std::uint32_t second = components[1].sample(x);
    const std::uint32_t third = components[2].sample(x);
    if (color == jpeg::ColorModel::rgb) return pack_rgb(first, second, third);
    const jpeg::Rgb rgb = jpeg::ycc_to_rgb(static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(second),
                                           static_cast<std::uint8_t>(third));
    return pack_rgb(rgb.r, rgb.g, rgb.b);
  }
};

/// Four neighbouring pixels of a row of a decoded YCbCr image that is not subsampled, or by two both ways: most are.
/// Values are those of JpegRow.
class QuadRow {
 public:
  __device__ static bool fits(const JpegTask& task) {
    using jpeg::Upsampling;
    if (task.index.frame.color != jpeg::ColorModel::ycbcr) return false;
    const Upsampling second = task.plan.components[1].upsampling;
    return task.plan.components[0].upsampling == Upsampling::none && second == task.plan.components[2].upsampling &&
           (second == Upsampling::none || second == Upsampling::h2v2);
  }

  __device__ QuadRow(const JpegTask& task, std::uint32_t y)
      : row_(task, y), halved_(task.plan.components[1].upsampling == jpeg::Upsampling::h2v2) {
    first_x_ = task.plan.columns.first * task.index.frame.mcu_width();
    const std::uint32_t decoded_end = task.plan.columns.end * task.index.frame.components[1].h * jpeg::kBlockSize;
    last_chroma_ = min(row_.components[1].width, decoded_end) - 1;
  }
  /// The first pixel of the quad that holds pixel x.
  __device__ std::uint32_t begin_of(std::uint32_t x) const { return x - ((x - first_x_) & 3); }
  /// Pixels [x, x + 4). REQUIRES: x is a quad's first pixel, and one of its pixels is in the part.
  __device__ uint4 pixels(std::uint32_t x) const {
    const std::uint32_t luma = load_4(row_.components[0].near + x);
    const std::uint32_t second = halved_ ? upsampled(row_.components[1], x / 2) : load_4(row_.components[1].near + x);
    const std::uint32_t third = halved_ ? upsampled(row_.components[2], x / 2) : load_4(row_.components[2].near + x);
    return {converted(luma, second, third, 0), converted(luma, second, third, 1), converted(luma, second, third, 2),
            converted(luma, second, third, 3)};
  }

 private:
  __device__ static std::uint32_t load_4(const std::uint8_t* at) { return *reinterpret_cast<const std::uint32_t*>(at); }
  __device__ static std::uint32_t converted(std::uint32_t y, std::uint32_t cb, std::uint32_t cr, std::uint32_t i) {
    const jpeg::Rgb rgb =
        jpeg::ycc_to_rgb(static_cast<std::uint8_t>(y >> (8 * i)), static_cast<std::uint8_t>(cb >> (8 * i)),
                         static_cast<std::uint8_t>(cr >> (8 * i)));
    return pack_rgb(rgb.r, rgb.g, rgb.b);
  }
  /// Four samples at full size, from `at` and at + 1 and those beside them.
  __device__ std::uint32_t upsampled(const ComponentRow& row, std::uint32_t at) const {
    const auto sum = [&row](std::uint32_t x) { return 3 * row.near[x] + row.far[x]; };
    const std::int32_t before = sum(at > first_x_ / 2 ? at - 1 : at);
    const std::int32_t first = sum(at);
    const std::int32_t second = sum(min(at + 1, last_chroma_));
    const std::int32_t behind = sum(min(at + 2, last_chroma_));
    return std::uint32_t{jpeg::upsample_h2v2(first, before, true)} |
           std::uint32_t{jpeg::upsample_h2v2(first, second, false)} << 8 |
           std::uint32_t{jpeg::upsample_h2v2(second, first, true)} << 16 |
           std::uint32_t{jpeg::upsample_h2v2(second, behind, false)} << 24;
  }

  JpegRow row_;
  bool halved_;
  std::uint32_t first_x_;
  std::uint32_t last_chroma_;
};

struct PackedRow {
  const std::uint8_t* row;
  __device__ PackedRow(const StageTask& stage, std::uint32_t y) : row(stage.rgb + y * stage.rgb_stride) {}
  __device__ std::uint32_t pixel(std::uint32_t x) const {
    const std::uint8_t* at = row + static_cast<std::size_t>(x) * 3;
    return pack_rgb(at[0], at[1], at[2]);
  }
};

}  // namespace imgpack::gpu
