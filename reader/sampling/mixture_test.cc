#include "reader/sampling/mixture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include <doctest/doctest.h>

#include "reader/random/random_stream.h"
#include "tests/support/statistics.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace {

using Counts = std::vector<std::uint64_t>;

Counts counts_of(const std::vector<double>& proportions) {
  return Mixture(proportions).counts();
}

}  // namespace

TEST_CASE("a period holds the proportions as exactly as whole numbers can") {
  CHECK(counts_of({1, 1}) == Counts{2048, 2048});
  CHECK(counts_of({3, 1}) == Counts{3072, 1024});
  CHECK(counts_of({0.75, 0.25}) == Counts{3072, 1024});
  CHECK(counts_of({1, 1, 1}) == Counts{1366, 1365, 1365});
  CHECK(counts_of({1e9, 1}) == Counts{4095, 1});
  CHECK(counts_of({1, 1e300, 1e-300}) == Counts{1, 4094, 1});
  constexpr double kGreatest = std::numeric_limits<double>::max();
  CHECK(counts_of({kGreatest, kGreatest / 3, kGreatest / 3 * 2}) == Counts{2048, 683, 1365});
  CHECK(counts_of(std::vector<double>(4096, 0.1)) == Counts(4096, 1));
  std::vector<double> one_large(4000, 1e-9);
  one_large[7] = 1;
  CHECK(counts_of(one_large)[7] == 97);
}

TEST_CASE("whatever the proportions, a period is full and no dataset is left out") {
  RandomStream stream(3, 1, 4);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> proportions(1 + stream.below(40));
    for (double& proportion : proportions) proportion = std::exp(stream.uniform(-3, 3));
    const Counts counts = counts_of(proportions);
    CHECK(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}) == Mixture::kPeriod);
    const double sum = std::accumulate(proportions.begin(), proportions.end(), 0.0);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      CHECK(counts[i] >= 1);
      const double share = proportions[i] / sum * Mixture::kPeriod;
      if (*std::min_element(proportions.begin(), proportions.end()) / sum * Mixture::kPeriod >= 1) {
        CHECK(std::abs(static_cast<double>(counts[i]) - share) < 1);
      }
    }
  }
}

TEST_CASE("each dataset's samples are numbered through the periods, none twice") {
  const std::vector<double> proportions = {5, 1, 0.0001};
  const Mixture mixture(proportions);
  MixtureCursor cursor(mixture, 9);
  std::vector<std::set<std::uint64_t>> numbers(3);
  for (std::uint64_t period = 0; period < 5; ++period) {
    for (std::uint64_t i = 0; i < Mixture::kPeriod; ++i) {
      const MixtureCursor::Place place = cursor.at(period * Mixture::kPeriod + i);
      CHECK(numbers.at(place.dataset).insert(place.number).second);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      REQUIRE(numbers[i].size() == (period + 1) * mixture.counts()[i]);
      CHECK(*numbers[i].rbegin() == numbers[i].size() - 1);
    }
  }
  MixtureCursor elsewhere(mixture, 9);
  for (const std::uint64_t position : {20'000u, 3u, 4096u, 4095u, 3u}) {
    const auto a = cursor.at(position);
    const auto b = elsewhere.at(position);
    CHECK(a.dataset == b.dataset);
    CHECK(a.number == b.number);
  }
}

TEST_CASE("a dataset's slots are anywhere in a period, elsewhere in each, and depend on the seed") {
  const std::vector<double> proportions = {7, 1};
  const Mixture mixture(proportions);
  std::vector<std::uint64_t> counts(64);
  std::vector<std::uint64_t> both(2);
  MixtureCursor cursor(mixture, 1);
  MixtureCursor other(mixture, 2);
  for (std::uint64_t position = 0; position < 50 * Mixture::kPeriod; ++position) {
    const bool here = cursor.at(position).dataset == 1;
    if (here) ++counts[position % Mixture::kPeriod * counts.size() / Mixture::kPeriod];
    if (here) ++both[other.at(position).dataset];
  }
  // Without replacement: the counts vary a little less than those of draws, and not at all where slots are dealt
  // evenly.
  CHECK(std::abs(deviations_from_equal(counts)) < kFair);
  const double part = static_cast<double>(both[1]) / static_cast<double>(both[0] + both[1]);
  CHECK(part == doctest::Approx(0.125).epsilon(0.05));
}
