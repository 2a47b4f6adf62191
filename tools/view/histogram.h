// Counts by size, in buckets whose limits are fixed, so that counts of several threads and files can be added.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace imgpack::tools {

/// Bucket i holds values from limits[i] up to, but not, limits[i + 1]; the last one has no end. Values below limits[0]
/// are counted in bucket 0.
class Histogram {
 public:
  /// `limits` rise, are not empty and outlive this.
  explicit Histogram(std::span<const double> limits) : limits_(limits), counts_(limits.size(), 0) {}

  void add(double value);
  /// REQUIRES: `other` has the same limits.
  void merge(const Histogram& other);

  std::span<const double> limits() const noexcept { return limits_; }
  std::span<const std::uint64_t> counts() const noexcept { return counts_; }

 private:
  std::span<const double> limits_;
  std::vector<std::uint64_t> counts_;
};

/// Of widths and heights, pixels.
std::span<const double> side_limits() noexcept;
/// Of width / height.
std::span<const double> aspect_limits() noexcept;
/// Of payloads, bytes.
std::span<const double> byte_limits() noexcept;

}  // namespace imgpack::tools
