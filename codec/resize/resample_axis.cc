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

// Each filter is 0 outside [-kSupport, kSupport]. The order of operations within them decides the last bits.

struct BoxFilter {
  static constexpr double kSupport = 0.5;
  double operator()(double x) const { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }
};

struct BilinearFilter {
  static constexpr double kSupport = 1;
  double operator()(double x) const { return std::max(1.0 - std::abs(x), 0.0); }
};

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

struct BicubicFilter {  // Keys' cubic convolution
  static constexpr double kSupport = 2;
  static constexpr double kA = -0.5;
  double operator()(double x) const {
    x = std::abs(x);
    if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1.0;
    if (x < 2.0) return (((x - 5.0) * x + 8.0) * x - 4.0) * kA;
    return 0.0;
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

double scale_of(const AxisRequest& request) {
  const float extent = request.end - request.begin;  // rounded to single precision
  return static_cast<double>(extent) / request.size;
}

std::int32_t to_fixed_point(double weight) {
  return static_cast<std::int32_t>(weight * kWeightOne + (weight < 0 ? -0.5 : 0.5));
}

}  // namespace

void ResampleAxis::compute(const AxisRequest& request) {
  first.resize(request.kept);
  count.resize(request.kept);
  weights.clear();
  const float extent = request.end - request.begin;
  const bool keeps_pixels = request.begin == std::floor(request.begin) && extent == static_cast<float>(request.size);
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
  const double scale = scale_of(request);
  double position = static_cast<double>(request.begin) + scale * 0.5;
  end_ = 0;
  for (std::uint32_t i = 0; i < request.skipped; ++i) position += scale;  // added up, with the errors of that, as there
  for (std::uint32_t i = 0; i < request.kept; ++i, position += scale) {
    const bool inside = position < request.source;
    first[i] = inside ? static_cast<std::uint32_t>(position) : request.source;
    count[i] = inside ? 1 : 0;
    if (inside) end_ = first[i] + 1;
  }
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
  const double scale = scale_of(request);
  const double filter_scale = std::max(scale, 1.0);
  const double inverse = 1.0 / filter_scale;
  const double support = Filter::kSupport * filter_scale;
  const auto center_of = [&](std::uint32_t i) {
    return static_cast<double>(request.begin) + (request.skipped + i + 0.5) * scale;
  };

  max_count = 0;
  for (std::uint32_t i = 0; i < request.kept; ++i) {
    const double center = center_of(i);
    const auto low = static_cast<std::int64_t>(center - support + 0.5);
    const auto high = static_cast<std::int64_t>(center + support + 0.5);
    first[i] = static_cast<std::uint32_t>(std::max<std::int64_t>(low, 0));
    end_ = static_cast<std::uint32_t>(std::min<std::int64_t>(high, request.source));
    count[i] = end_ - first[i];
    max_count = std::max(max_count, count[i]);
  }

  stride = max_count + max_count % 2;
  weights.assign(std::size_t{request.kept} * stride, 0);
  exact_.resize(max_count);
  for (std::uint32_t i = 0; i < request.kept; ++i) {
    const double center = center_of(i);
    double sum = 0;
    for (std::uint32_t t = 0; t < count[i]; ++t) {
      exact_[t] = filter((static_cast<double>(t + first[i]) - center + 0.5) * inverse);
      sum += exact_[t];
    }
    if (sum == 0.0) sum = 1.0;
    std::int32_t* const out = weights.data() + std::size_t{i} * stride;
    for (std::uint32_t t = 0; t < count[i]; ++t) out[t] = to_fixed_point(exact_[t] / sum);
  }
}

}  // namespace imgpack
