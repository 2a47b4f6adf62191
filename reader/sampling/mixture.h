// Which of several datasets each sample comes from: proportions held exactly by every period of samples, in random
// order within it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "reader/sampling/permutation.h"

namespace imgpack {

/// Immutable and thread-safe.
class Mixture {
 public:
  static constexpr std::uint64_t kPeriod = 4096;

  /// REQUIRES: proportions are finite and positive, and kPeriod at most.
  explicit Mixture(std::span<const double> proportions);

  /// Samples of each dataset in a period; at least 1 each.
  const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }

 private:
  friend class MixtureCursor;
  std::vector<std::uint64_t> counts_;
  std::vector<std::uint64_t> begins_;  ///< first slot of each dataset
};

/// Not thread-safe. REQUIRES: `mixture` outlives it.
class MixtureCursor {
 public:
  MixtureCursor(const Mixture& mixture, std::uint64_t seed) noexcept : mixture_(&mixture), seed_(seed) {}

  struct Place {
    std::uint32_t dataset = 0;
    std::uint64_t number = 0;  ///< how many samples of that dataset come before, since the first epoch's first
  };
  /// Of all samples since the first epoch's first.
  Place at(std::uint64_t position);

 private:
  const Mixture* mixture_;
  std::uint64_t seed_;
  std::uint64_t period_ = 0;
  std::optional<Permutation> slots_;
};

}  // namespace imgpack
