// One axis of a resize: which source positions each result position is made of, and with which weights. Plain arrays,
// computed on the host and usable anywhere. What they are: axis_math.h.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/resize/axis_math.h"
#include "imgpack/transform.h"

namespace imgpack {

/// Result position i is the sum over t < count[i] of source[first[i] + t] * weights[i * stride + t]; see fixed_point.h.
/// first and first + count never fall from one i to the next.
struct ResampleAxis {
  std::vector<std::uint32_t> first;
  /// At least 1, or 0 (a black result) where nearest's accumulated position has left the source.
  std::vector<std::uint32_t> count;
  /// Weights beyond count[i] are 0. Empty if is_copy.
  std::vector<std::int32_t> weights;
  std::uint32_t stride = 0;  ///< weights of a position: max_count, rounded up to an even number
  std::uint32_t max_count = 0;
  /// Every result position is source[first[i]] itself: nearest, and whole boxes that keep their size.
  bool is_copy = false;

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(first.size()); }
  /// The source positions that anything depends on: [begin(), end()).
  std::uint32_t begin() const noexcept { return first.empty() ? 0 : first.front(); }
  std::uint32_t end() const noexcept { return end_; }

  /// Keeps the vectors' memory. Throws std::bad_alloc.
  void compute(const AxisRequest& request);

 private:
  void compute_nearest(const AxisRequest& request);
  void compute_copy(const AxisRequest& request);
  template <typename Filter>
  void compute_filter(const AxisRequest& request, Filter filter);

  std::uint32_t end_ = 0;
};

}  // namespace imgpack
