#include "packer/resize_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "codec/resize/resizer.h"

namespace imgpack {

namespace {

/// Half of `excess`, rounded to even as Python's round() does.
std::uint32_t centered(std::uint32_t excess) {
  const std::uint32_t half = excess / 2;
  return excess % 2 == 0 ? half : half + half % 2;
}

/// The side that is not set to `n`, when the other goes from `from` to `n`: rounded down, at least 1.
std::uint64_t proportional(std::uint32_t side, std::uint32_t from, std::uint32_t n) {
  return std::max<std::uint64_t>(1, std::uint64_t{n} * side / from);
}

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
      by_width ? proportional(from.height, from.width, n) : proportional(from.width, from.height, n);
  if (other > Transform::kMaxResize) {
    return fmt::format("it has {}x{} pixels, too narrow to make one side {}", from.width, from.height, n);
  }
  const auto side = static_cast<std::uint32_t>(other);
  ResizePlan plan = all_of(by_width ? Size{n, side} : Size{side, n});
  if (transform.resize_mode == ResizeMode::center_crop) {
    plan.kept = {centered(plan.scaled.width - n), centered(plan.scaled.height - n), n, n};
  }
  return plan;
}

}  // namespace imgpack
