#include "reader/sampling/alias_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "tests/support/statistics.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace {

constexpr std::uint64_t kDraws = 200'000;

std::vector<std::uint64_t> counts_of(const std::vector<double>& weights) {
  const AliasTable table(weights);
  std::vector<std::uint64_t> counts(weights.size());
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    RandomStream stream(42, i, 0);
    ++counts.at(table.draw(stream));
  }
  return counts;
}

/// REQUIRES: positive weights of which each is expected to be drawn several times, and at least two.
void check_proportions(const std::vector<double>& weights) {
  const std::vector<std::uint64_t> counts = counts_of(weights);
  const double greatest = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  double degrees = -1;
  for (const double weight : weights) {
    sum += weight / greatest;
    degrees += weight > 0 ? 1 : 0;
  }
  std::vector<double> expected;
  for (const double weight : weights) expected.push_back(weight / greatest / sum * kDraws);
  CHECK(std::abs(chi_square_deviations(chi_square(counts, expected), degrees)) < kFair);
}

}  // namespace

TEST_CASE("draws are in proportion to their weights") {
  check_proportions({1, 1});
  check_proportions({1, 2, 3, 4});
  check_proportions({0.1, 0.1, 0.7, 0.1});
  check_proportions({1, 1000});
  check_proportions({0, 5, 0, 1, 0, 0, 3, 0});
  std::vector<double> halves;
  for (int i = 0; i < 14; ++i) halves.push_back(std::ldexp(1, -i));
  check_proportions(halves);
  std::vector<double> many(1000);
  RandomStream stream(1, 2, 3);
  for (double& weight : many) weight = stream.uniform() < 0.3 ? 0 : 0.1 + stream.uniform();
  check_proportions(many);
}

TEST_CASE("the greatness of all weights together is of no meaning") {
  constexpr double kGreatest = std::numeric_limits<double>::max();
  constexpr double kLeast = std::numeric_limits<double>::denorm_min();
  check_proportions({kGreatest, kGreatest / 2, kGreatest / 4});
  check_proportions({kLeast, kLeast, 2 * kLeast});
  check_proportions({0, 0, 0, kLeast, 0, 3 * kLeast, 0, 0});
}

TEST_CASE("a weight of 0 is never drawn") {
  for (std::size_t size = 2; size < 200; ++size) {
    for (const std::size_t only : {std::size_t{0}, size / 2, size - 1}) {
      std::vector<double> weights(size, 0.0);
      weights[only] = 0.1;
      const AliasTable table(weights);
      for (std::uint64_t i = 0; i < 100; ++i) {
        RandomStream stream(size, i, 0);
        CHECK(table.draw(stream) == only);
      }
    }
  }
  std::vector<double> every_third(3000, 0.0);
  for (std::size_t i = 0; i < every_third.size(); i += 3) every_third[i] = 0.1 + 1e-3 * static_cast<double>(i);
  const std::vector<std::uint64_t> counts = counts_of(every_third);
  for (std::size_t i = 0; i < counts.size(); ++i) CHECK((i % 3 == 0 || counts[i] == 0));
}

TEST_CASE("one weight is always drawn") {
  CHECK(counts_of({0.3}) == std::vector<std::uint64_t>{kDraws});
  CHECK(counts_of({1e-300}) == std::vector<std::uint64_t>{kDraws});
}

TEST_CASE("a weight that is 300 orders of magnitude less than another is not drawn, and does no harm") {
  CHECK(counts_of({1e-300, 1, 0}) == std::vector<std::uint64_t>{0, kDraws, 0});
  CHECK(counts_of({1e300, 1, 1}) == std::vector<std::uint64_t>{kDraws, 0, 0});
}

TEST_CASE("a table of nothing says so") {
  CHECK(AliasTable().empty());
  CHECK_FALSE(AliasTable(std::vector<double>{1}).empty());
}
