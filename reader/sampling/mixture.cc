#include "reader/sampling/mixture.h"

#include <algorithm>
#include <numeric>

#include "reader/random/random_stream.h"

namespace imgpack {

/// Largest remainders: each dataset gets its share rounded down, but at least one slot; what is left goes to those that
/// are furthest below their share.
Mixture::Mixture(std::span<const double> proportions) : counts_(proportions.size()), begins_(proportions.size()) {
  const double greatest = *std::max_element(proportions.begin(), proportions.end());  // a plain sum might overflow
  double sum = 0;
  for (const double proportion : proportions) sum += proportion / greatest;
  const auto share = [&](std::size_t i) { return proportions[i] / greatest / sum * static_cast<double>(kPeriod); };
  std::uint64_t used = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    counts_[i] = std::max<std::uint64_t>(static_cast<std::uint64_t>(share(i)), 1);
    used += counts_[i];
  }
  const auto surplus = [&](std::size_t i) { return static_cast<double>(counts_[i]) - share(i); };
  while (used != kPeriod) {
    std::size_t chosen = counts_.size();
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (used > kPeriod && counts_[i] == 1) continue;
      const bool better =
          chosen == counts_.size() || (used < kPeriod ? surplus(i) < surplus(chosen) : surplus(i) > surplus(chosen));
      if (better) chosen = i;
    }
    if (used < kPeriod) {
      ++counts_[chosen];
      ++used;
    } else {
      --counts_[chosen];
      --used;
    }
  }
  std::exclusive_scan(counts_.begin(), counts_.end(), begins_.begin(), std::uint64_t{0});
}

MixtureCursor::Place MixtureCursor::at(std::uint64_t position) {
  const std::uint64_t period = position / Mixture::kPeriod;
  if (!slots_ || period_ != period) {
    period_ = period;
    slots_.emplace(Mixture::kPeriod, random_key(seed_, period, RandomPurpose::mixture));
  }
  const std::uint64_t slot = (*slots_)(position % Mixture::kPeriod);
  const auto after = std::upper_bound(mixture_->begins_.begin(), mixture_->begins_.end(), slot);
  const auto dataset = static_cast<std::size_t>(after - mixture_->begins_.begin()) - 1;
  return {.dataset = static_cast<std::uint32_t>(dataset),
          .number = period * mixture_->counts_[dataset] + (slot - mixture_->begins_[dataset])};
}

}  // namespace imgpack
