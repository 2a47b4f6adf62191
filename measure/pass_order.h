// Passes over a subject, each in a random order.
#pragma once

#include <cstdint>
#include <optional>

#include "reader/random/random_stream.h"
#include "reader/sampling/permutation.h"

namespace imgpack::measure {

/// Every image once, then, unless there is to be a single pass, every image once in another order, and so on. The order
/// depends on size and seed alone.
class PassOrder {
 public:
  PassOrder(std::uint64_t size, std::uint64_t seed, bool single_pass)
      : size_(size), seed_(seed), single_pass_(single_pass), order_(order_of(0)) {}

  /// Nothing at the end, and of nothing.
  std::optional<std::uint64_t> next() {
    if (position_ == size_) {
      if (single_pass_ || size_ == 0) return std::nullopt;
      order_ = order_of(++pass_);
      position_ = 0;
    }
    return order_(position_++);
  }

 private:
  Permutation order_of(std::uint64_t pass) const {
    return Permutation(size_, random_key(seed_, pass, RandomPurpose::order));
  }

  std::uint64_t size_;
  std::uint64_t seed_;
  bool single_pass_;
  std::uint64_t pass_ = 0;
  std::uint64_t position_ = 0;
  Permutation order_;
};

}  // namespace imgpack::measure
