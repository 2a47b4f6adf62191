#include "reader/sampling/alias_table.h"

#include <algorithm>

namespace imgpack {

AliasTable::AliasTable(std::span<const double> weights) : columns_(weights.size()) {
  // Relative to the greatest, so that no sum overflows and no mean is rounded to 0.
  const auto heaviest = std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (const double weight : weights) sum += weight / *heaviest;
  const double mean = sum / static_cast<double>(weights.size());
  std::vector<std::uint64_t> small, large;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    columns_[i] = {.keep = weights[i] / *heaviest / mean, .alias = i};
    (columns_[i].keep < 1 ? small : large).push_back(i);
  }
  while (!small.empty() && !large.empty()) {
    const std::uint64_t low = small.back();
    const std::uint64_t high = large.back();
    small.pop_back();
    columns_[low].alias = high;
    columns_[high].keep -= 1 - columns_[low].keep;
    if (columns_[high].keep < 1) {
      large.pop_back();
      small.push_back(high);
    }
  }
  // What rounding leaves over is full, or, where it must never be drawn, another's.
  for (const std::uint64_t i : large) columns_[i].keep = 1;
  for (const std::uint64_t i : small) {
    if (weights[i] > 0) {
      columns_[i].keep = 1;
    } else {
      columns_[i].alias = static_cast<std::uint64_t>(heaviest - weights.begin());
    }
  }
}

std::uint64_t AliasTable::draw(RandomStream& stream) const noexcept {
  const std::uint64_t column = stream.below(columns_.size());
  return stream.uniform() < columns_[column].keep ? column : columns_[column].alias;
}

}  // namespace imgpack
