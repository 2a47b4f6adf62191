// What is done to one image, with everything random already drawn: plain numbers that any device can follow.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "codec/host_device.h"
#include "codec/image.h"
#include "imgpack/transform.h"

namespace imgpack {

/// An operation on the colors of 8-bit pixels that does not depend on where they are. What each computes: color_ops.h.
struct ColorOp {
  enum class Kind : std::uint8_t { brightness, contrast, saturation, hue, grayscale };
  Kind kind = Kind::brightness;
  /// 1: no change. For hue: the turn, -0.5 to 0.5, 0: no change. Without meaning for grayscale.
  float factor = 1;
  bool operator==(const ColorOp&) const = default;
};

/// Image.blend() copies one of its images for the factor 1; hue 0 goes through HSV all the same.
IMGPACK_HD constexpr bool changes_nothing(const ColorOp& op) noexcept {
  return op.factor == 1 && op.kind != ColorOp::Kind::hue && op.kind != ColorOp::Kind::grayscale;
}

/// A view of an image: pixel (x, y) of it is pixel (left + x, top + y) of the image, or `fill` where there is none.
struct Canvas {
  std::int32_t left = 0;
  std::int32_t top = 0;
  Size size;
  std::array<std::uint8_t, 3> fill = {0, 0, 0};  ///< R, G, B

  bool lies_in(Size image) const noexcept {
    return left >= 0 && top >= 0 && std::int64_t{left} + size.width <= image.width &&
           std::int64_t{top} + size.height <= image.height;
  }
  bool operator==(const Canvas&) const = default;
};

/// In this order: crop, resize, canvas, flip, colors.
struct PlanStage {
  Rect crop;    ///< of the stage's source; not empty, lies in it
  Size scaled;  ///< what the crop as a whole image becomes; its own size where nothing is resized
  Interpolation interpolation = Interpolation::bilinear;
  Canvas canvas;      ///< of the scaled crop
  bool flip = false;  ///< left and right exchanged
  std::vector<ColorOp> colors;

  bool resizes() const noexcept { return scaled != Size{crop.width, crop.height}; }
  bool pads() const noexcept { return !canvas.lies_in(scaled); }
  bool operator==(const PlanStage&) const = default;
};

/// A rectangle of the finished image, after Normalize, that gets another content.
struct Erasing {
  Rect rect;
  std::array<float, 3> value = {0, 0, 0};  ///< R, G, B, in the batch's units
  /// Instead of `value`: value y * width + x of channel c of the rectangle is number (c * height + y) * width + x of
  /// normal_noise(key, record, operation).
  bool noise = false;
  std::uint64_t key = 0;
  std::uint64_t record = 0;
  std::uint32_t operation = 0;
  bool operator==(const Erasing&) const = default;
};

/// The stages one after the other: the first works on the decoded image, each later one on what the one before it made.
/// At least one; more only where steps can't be put into one, as a second resize.
struct SamplePlan {
  std::vector<PlanStage> stages;
  std::vector<Erasing> erasings;

  Size size() const noexcept { return stages.empty() ? Size{} : stages.back().canvas.size; }
  bool operator==(const SamplePlan&) const = default;
};

}  // namespace imgpack
