#include "packer/resize_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "codec/resize/resizer.h"
#include "codec/resize/torchvision_size.h"

namespace imgpack {

namespace {

ResizePlan all_of(Size size) {
  return {size, {0, 0, size.width, size.height}};
}

}  // namespace

std::variant<ResizePlan, std::string> plan_resize(Size from, const Transform& transform) {
  const std::uint32_t n = transform.resize;
  if (n == 0) return all_of(from);
  const bool enlarges = transform.resize_mode == ResizeMode::longer ? std::max(from.width, from.height) < n
                                                                    : std::min(from.width, from.height) < n;
  if (enlarges && !transform.upscale) {
    if (!transform.fixed_side()) return all_of(from);
    return fmt::format("it has {}x{} pixels, too few for {}x{}; --upscale enlarges such images", from.width,
                       from.height, n, n);
  }
  if (std::max(from.width, from.height) > kMaxResizeSide) {
    return fmt::format("it has {}x{} pixels, and no side may have more than {} to be resized", from.width, from.height,
                       kMaxResizeSide);
  }
  if (transform.resize_mode == ResizeMode::exact) return all_of({n, n});

  // The side that becomes n.
  const bool by_width = (transform.resize_mode == ResizeMode::longer) == (from.width > from.height);
  const std::uint64_t other =
      by_width ? proportional_side(from.height, from.width, n) : proportional_side(from.width, from.height, n);
  if (other > Transform::kMaxResize) {
    return fmt::format("it has {}x{} pixels, too narrow to make one side {}", from.width, from.height, n);
  }
  const auto side = static_cast<std::uint32_t>(other);
  ResizePlan plan = all_of(by_width ? Size{n, side} : Size{side, n});
  if (transform.resize_mode == ResizeMode::center_crop) {
    plan.kept = {centered_margin(plan.scaled.width - n), centered_margin(plan.scaled.height - n), n, n};
  }
  return plan;
}

}  // namespace imgpack
