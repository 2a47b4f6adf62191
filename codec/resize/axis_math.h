// The arithmetic of one axis of a resize, for host and device: which source positions a result position is made of, and
// with which weights. The numbers are those of Pillow 9.4: Resample.c (precompute_coeffs, normalize_coeffs_8bpc) and,
// for nearest, Geometry.c (ImagingScaleAffine).
//
// To be compiled without contraction of floating-point operations: a fused multiply-add rounds once where Pillow rounds
// twice. Hamming's and Lanczos' filters need sines, which a device computes otherwise: they are the host's.
#pragma once

#include <cmath>
#include <cstdint>

#include "codec/host_device.h"
#include "codec/resize/fixed_point.h"
#include "imgpack/transform.h"

namespace imgpack {

/// [begin, end) of `source` source positions become `size` result positions, of which `kept` from `skipped` on are
/// wanted: result position i below is position skipped + i of all.
struct AxisRequest {
  std::uint32_t source = 0;  ///< 1 to INT32_MAX
  float begin = 0;           ///< 0 <= begin < end <= source
  float end = 0;
  std::uint32_t size = 0;  ///< 1 to INT32_MAX
  Interpolation interpolation = Interpolation::bilinear;
  std::uint32_t skipped = 0;
  std::uint32_t kept = 0;  ///< at least 1; skipped + kept <= size
  bool operator==(const AxisRequest&) const = default;

  /// Whether the result's positions are some of the source's, one for one.
  IMGPACK_HD bool keeps_pixels() const {
    const float extent = end - begin;
    return begin == static_cast<float>(static_cast<std::uint32_t>(begin)) && extent == static_cast<float>(size);
  }
  IMGPACK_HD double scale() const {
    const float extent = end - begin;  // rounded to single precision
    return static_cast<double>(extent) / size;
  }
};

namespace axis_math {

// Each filter is 0 outside [-kSupport, kSupport]. The order of operations within them decides the last bits.

struct BoxFilter {
  static constexpr double kSupport = 0.5;
  IMGPACK_HD double operator()(double x) const { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }
};

struct BilinearFilter {
  static constexpr double kSupport = 1;
  IMGPACK_HD double operator()(double x) const {
    const double height = 1.0 - std::fabs(x);
    return height > 0.0 ? height : 0.0;
  }
};

struct BicubicFilter {  // Keys' cubic convolution
  static constexpr double kSupport = 2;
  static constexpr double kA = -0.5;
  IMGPACK_HD double operator()(double x) const {
    x = std::fabs(x);
    if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1.0;
    if (x < 2.0) return (((x - 5.0) * x + 8.0) * x - 4.0) * kA;
    return 0.0;
  }
};

/// Source positions [first, first + count).
struct Window {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// A filtered axis, whatever the filter's form.
struct Placement {
  double scale;
  double inverse;  ///< of how much the filter is widened
  double support;  ///< source positions to each side

  IMGPACK_HD Placement(const AxisRequest& request, double filter_support) : scale(request.scale()) {
    const double filter_scale = scale > 1.0 ? scale : 1.0;
    inverse = 1.0 / filter_scale;
    support = filter_support * filter_scale;
  }
  IMGPACK_HD double center(const AxisRequest& request, std::uint32_t i) const {
    return static_cast<double>(request.begin) + (request.skipped + i + 0.5) * scale;
  }
  IMGPACK_HD Window window(const AxisRequest& request, std::uint32_t i) const {
    const double middle = center(request, i);
    const auto low = static_cast<std::int64_t>(middle - support + 0.5);
    const auto high = static_cast<std::int64_t>(middle + support + 0.5);
    const std::int64_t first = low > 0 ? low : 0;
    const std::int64_t end = high < request.source ? high : request.source;
    return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first)};
  }
  /// No window has more positions.
  IMGPACK_HD std::uint32_t most_positions() const { return static_cast<std::uint32_t>(2 * support) + 2; }
};

IMGPACK_HD inline std::int32_t to_fixed_point(double weight) {
  return static_cast<std::int32_t>(weight * kWeightOne + (weight < 0 ? -0.5 : 0.5));
}

/// Calls put(t, weight) for each position of window `i`.
template <class Filter, class Put>
IMGPACK_HD void weigh(const AxisRequest& request, const Placement& placement, std::uint32_t i, const Window& window,
                      Filter filter, Put put) {
  const double middle = placement.center(request, i);
  const auto value = [&](std::uint32_t t) {
    return filter((static_cast<double>(t + window.first) - middle + 0.5) * placement.inverse);
  };
  double sum = 0;
  for (std::uint32_t t = 0; t < window.count; ++t) sum += value(t);
  if (sum == 0.0) sum = 1.0;
  for (std::uint32_t t = 0; t < window.count; ++t) put(t, to_fixed_point(value(t) / sum));
}

/// Calls put(i, window) for each result position of a nearest-neighbour axis; windows of 0 positions where the
/// accumulated position has left the source.
template <class Put>
IMGPACK_HD void for_each_nearest(const AxisRequest& request, Put put) {
  const double scale = request.scale();
  double position = static_cast<double>(request.begin) + scale * 0.5;
  for (std::uint32_t i = 0; i < request.skipped; ++i) position += scale;  // added up, with the errors of that, as there
  for (std::uint32_t i = 0; i < request.kept; ++i, position += scale) {
    const bool inside = position < request.source;
    put(i, Window{inside ? static_cast<std::uint32_t>(position) : request.source, inside ? 1U : 0U});
  }
}

}  // namespace axis_math
}  // namespace imgpack
