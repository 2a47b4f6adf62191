// What repeated measurements say, and what they cannot say.
#pragma once

#include <cstddef>
#include <span>

namespace imgpack::measure {

/// Quartiles are interpolated linearly between values (type 7 of Hyndman and Fan, NumPy's default).
struct Summary {
  std::size_t count = 0;
  double least = 0;
  double lower = 0;  ///< first quartile
  double median = 0;
  double upper = 0;  ///< third quartile
  double most = 0;

  /// Distance of the quartiles, as a share of the median; 0 if that is 0.
  double spread() const noexcept;
  bool operator==(const Summary&) const = default;
};

/// All 0 for no values.
Summary summarize(std::span<const double> values);

/// Whether the halves in the middle of both lie apart. Of fewer than three values nothing can be said: false.
bool differ(const Summary& a, const Summary& b) noexcept;

}  // namespace imgpack::measure
