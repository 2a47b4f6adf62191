// Draws from a discrete distribution in constant time (Walker's alias method, tables by Vose 1991).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reader/random/random_stream.h"

namespace imgpack {

/// Immutable once made; thread-safe.
class AliasTable {
 public:
  AliasTable() = default;
  /// REQUIRES: weights are finite and not negative, at least one is positive.
  explicit AliasTable(std::span<const double> weights);

  bool empty() const noexcept { return columns_.empty(); }
  /// An index, with probability weight / sum of weights.
  std::uint64_t draw(RandomStream& stream) const noexcept;

 private:
  struct Column {
    double keep = 1;          ///< probability of the column's own index
    std::uint64_t alias = 0;  ///< the other one
  };
  std::vector<Column> columns_;
};

}  // namespace imgpack
