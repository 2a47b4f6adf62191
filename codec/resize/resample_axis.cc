// Compiled without contraction of floating-point operations (CMakeLists.txt): a fused multiply-add rounds once where
// Pillow rounds twice.
#include "codec/resize/resample_axis.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "codec/resize/fixed_point.h"

namespace imgpack {

namespace {

using axis_math::BicubicFilter;
using axis_math::BilinearFilter;
using axis_math::BoxFilter;

// The filters that only the host computes; 0 outside [-kSupport, kSupport].

struct HammingFilter {
  static constexpr double kSupport = 1;
  double operator()(double x) const {
    x = std::abs(x);
    if (x == 0.0) return 1.0;
    if (x >= 1.0) return 0.0;
    x *= std::numbers::pi;
    return std::sin(x) / x * (double{0.54F} + double{0.46F} * std::cos(x));  // single precision there, too
  }
};

struct LanczosFilter {
  static constexpr double kSupport = 3;
  static double sinc(double x) {
    if (x == 0.0) return 1.0;
    x *= std::numbers::pi;
    return std::sin(x) / x;
  }
  double operator()(double x) const { return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0; }
};

}  // namespace

void ResampleAxis::compute(const AxisRequest& request) {
  first.resize(request.kept);
  count.resize(request.kept);
  weights.clear();
  const bool keeps_pixels = request.keeps_pixels();
  is_copy = keeps_pixels || request.interpolation == Interpolation::nearest;
  switch (request.interpolation) {
    case Interpolation::nearest:
      return compute_nearest(request);
    case Interpolation::box:
      return keeps_pixels ? compute_copy(request) : compute_filter(request, BoxFilter());
    case Interpolation::bilinear:
      return keeps_pixels ? compute_copy(request) : compute_filter(request, BilinearFilter());
    case Interpolation::hamming:
      return keeps_pixels ? compute_copy(request) : compute_filter(request, HammingFilter());
    case Interpolation::bicubic:
      return keeps_pixels ? compute_copy(request) : compute_filter(request, BicubicFilter());
    case Interpolation::lanczos:
      return keeps_pixels ? compute_copy(request) : compute_filter(request, LanczosFilter());
  }
}

void ResampleAxis::compute_nearest(const AxisRequest& request) {
  end_ = 0;
  axis_math::for_each_nearest(request, [this](std::uint32_t i, axis_math::Window window) {
    first[i] = window.first;
    count[i] = window.count;
    if (window.count != 0) end_ = window.first + 1;
  });
  stride = max_count = 1;
}

// All filters are 1 at 0 and round to 0 at the other whole numbers, so their weights would be these.
void ResampleAxis::compute_copy(const AxisRequest& request) {
  std::iota(first.begin(), first.end(), static_cast<std::uint32_t>(request.begin) + request.skipped);
  std::fill(count.begin(), count.end(), 1U);
  stride = max_count = 1;
  end_ = first.back() + 1;
}

template <typename Filter>
void ResampleAxis::compute_filter(const AxisRequest& request, Filter filter) {
  const axis_math::Placement placement(request, Filter::kSupport);
  max_count = 0;
  for (std::uint32_t i = 0; i < request.kept; ++i) {
    const axis_math::Window window = placement.window(request, i);
    first[i] = window.first;
    count[i] = window.count;
    max_count = std::max(max_count, window.count);
  }
  end_ = first.back() + count.back();
  stride = max_count + max_count % 2;
  weights.assign(std::size_t{request.kept} * stride, 0);
  for (std::uint32_t i = 0; i < request.kept; ++i) {
    std::int32_t* const out = weights.data() + std::size_t{i} * stride;
    axis_math::weigh(request, placement, i, {first[i], count[i]}, filter,
                     [out](std::uint32_t t, std::int32_t weight) { out[t] = weight; });
  }
}

}  // namespace imgpack
