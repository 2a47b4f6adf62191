// Draws in proportion to weights.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <doctest/doctest.h>

#include "reader/sampling/sampler_fixture.h"
#include "tests/support/statistics.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace {

/// How often each record of `size` is drawn in `epochs` epochs.
std::vector<std::uint64_t> counts_of(const Sampler& sampler, std::size_t size, std::uint64_t epochs) {
  std::vector<std::uint64_t> counts(size);
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    for (const std::uint64_t record : records_of(sampler, epoch)) ++counts.at(record);
  }
  return counts;
}

void check_draws(const Sampler& sampler, const std::vector<double>& weights) {
  const std::vector<std::uint64_t> counts = counts_of(sampler, weights.size(), 500);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> expected;
  double degrees = -1;
  for (const double weight : weights) {
    expected.push_back(weight / sum * 500 * static_cast<double>(sampler.samples()));
    degrees += weight > 0 ? 1 : 0;
  }
  CHECK(std::abs(chi_square_deviations(chi_square(counts, expected), degrees)) < kFair);
}

}  // namespace

TEST_CASE("records are drawn in proportion to their weights") {
  const SampledFile file(30);
  std::vector<double> weights(30);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i % 4);
  check_draws(sampler_of({.dataset = file, .record_weights = weights}), weights);
  check_draws(sampler_of({.dataset = file, .record_weights = weights}, {.samples_per_epoch = 7}), weights);
}

TEST_CASE("records of a class are drawn in proportion to its weight") {
  const SampledFile file(30);
  std::vector<double> weights(30);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = i % 3 == 0 ? 0.5 : i % 3 == 1 ? 0 : 2;
  check_draws(sampler_of({.dataset = file, .class_weights = {0.5, 0, 2}}), weights);
}

TEST_CASE("weights are those of the split's records, or the list's, in their order") {
  const SampledFile file(30);
  std::vector<double> of_val(10, 0.0);
  of_val[2] = of_val[9] = 1;
  std::vector<double> expected(30, 0.0);
  expected[22] = expected[29] = 1;
  check_draws(sampler_of({.dataset = file, .split = "val", .record_weights = of_val}), expected);
  std::fill(expected.begin(), expected.end(), 0.0);
  expected[17] = 3;
  expected[4] = 2;
  check_draws(sampler_of({.dataset = file, .records = {17, 9, 4}, .record_weights = {3, 0, 2}}), expected);
  std::fill(expected.begin(), expected.end(), 0.0);
  expected[17] = 1;  // label 2
  expected[5] = 1;   // label 2
  check_draws(sampler_of({.dataset = file, .records = {17, 9, 4, 5}, .class_weights = {0, 0, 7}}), expected);
}

TEST_CASE("an epoch has as many draws as there are records, or as are asked for") {
  const SampledFile file(30);
  const std::vector<double> weights = {1, 1, 1};
  CHECK(sampler_of({.dataset = file, .class_weights = weights}).samples() == 30);
  CHECK(sampler_of({.dataset = file, .split = "val", .class_weights = weights}).samples() == 10);
  CHECK(sampler_of({.dataset = file, .class_weights = weights}, {.samples_per_epoch = 1000}).samples() == 1000);
}

TEST_CASE("draws of epochs and seeds differ, and those of one epoch are told apart") {
  const SampledFile file(30);
  const Sampler sampler = sampler_of({.dataset = file, .class_weights = {1, 2, 3}}, {.samples_per_epoch = 100});
  std::set<Records> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t epoch = 0; epoch < 10; ++epoch) {
      CHECK(seen.insert(records_of(sampler.with_seed(seed), epoch)).second);
    }
  }
  std::set<std::uint64_t> draws;
  for (const Sample& sample : samples_of(sampler, 0)) CHECK(draws.insert(sample.draw).second);
}
