// The generator against the known answers of Random123, and the distributions that are made of it.
#include "reader/random/random_stream.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "reader/random/beta.h"

using namespace imgpack;

namespace {

/// The greatest distance between the sample's distribution and `cdf`, times the root of the sample's size: above 1.95
/// with probability 0.001 (Kolmogorov).
double kolmogorov(std::vector<double> sample, const std::function<double(double)>& cdf) {
  std::sort(sample.begin(), sample.end());
  const auto n = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double expected = cdf(sample[i]);
    distance = std::max({distance, expected - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - expected});
  }
  return distance * std::sqrt(n);
}
constexpr double kUnlikely = 1.95;

template <class Draw>
std::vector<double> sample_of(std::size_t count, Draw draw) {
  std::vector<double> sample(count);
  for (double& value : sample) value = draw();
  return sample;
}

double normal_cdf(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

}  // namespace

TEST_CASE("Philox4x32-10 gives the known answers of Random123") {
  struct Answer {
    PhiloxBlock counter;
    std::uint64_t key;
    std::array<std::uint32_t, 4> expected;
  };
  const Answer answers[] = {
      {{{0, 0, 0, 0}}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
       0xffffffffffffffff,
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
       0x299f31d0a4093822,
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const auto& [counter, key, expected] : answers) {
    const PhiloxBlock block = philox4x32(counter, key);
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(block.words[i] == expected[i]);
  }
  static_assert(philox4x32({{0, 0, 0, 0}}, 0).words[0] == 0x6627e8d5);
}

TEST_CASE("a stream is the blocks of its name, one after the other") {
  const std::uint64_t item = 0x123456789ABCDEF0;
  RandomStream words(77, item, 5);
  RandomStream pairs(77, item, 5);
  for (std::uint32_t number = 0; number < 3; ++number) {
    const PhiloxBlock block = philox4x32({{0x9ABCDEF0, 0x12345678, 5, number}}, 77);
    for (const std::uint32_t word : block.words) CHECK(words.next_32() == word);
    CHECK(pairs.next_64() == (block.words[0] | std::uint64_t{block.words[1]} << 32));
    CHECK(pairs.next_64() == (block.words[2] | std::uint64_t{block.words[3]} << 32));
  }
}

TEST_CASE("keys of different purposes, epochs, datasets and draws differ") {
  std::set<std::uint64_t> keys;
  for (const std::uint64_t seed : {0, 1}) {
    for (const std::uint64_t epoch : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32}) {
      for (const RandomPurpose purpose : {RandomPurpose::order, RandomPurpose::augment, RandomPurpose::batch}) {
        for (const std::uint32_t dataset : {0, 1}) {
          for (const std::uint64_t draw : {0, 1, 2}) keys.insert(random_key(seed, epoch, purpose, dataset, draw));
        }
      }
    }
  }
  CHECK(keys.size() == 2 * 3 * 3 * 2 * 3);
}

TEST_CASE("uniform numbers are uniform") {
  RandomStream random(1, 2, 3);
  const std::vector<double> sample = sample_of(100'000, [&] { return random.uniform(); });
  CHECK(*std::min_element(sample.begin(), sample.end()) >= 0);
  CHECK(*std::max_element(sample.begin(), sample.end()) < 1);
  CHECK(kolmogorov(sample, [](double x) { return x; }) < kUnlikely);
  CHECK(kolmogorov(sample_of(20'000, [&] { return random.uniform(-3, 5); }), [](double x) { return (x + 3) / 8; }) <
        kUnlikely);
  CHECK(random.uniform(4, 4) == 4);
  // Across streams, too: the first number of each record.
  std::uint64_t record = 0;
  CHECK(kolmogorov(sample_of(20'000, [&] { return RandomStream(1, record++, 0).uniform(); }),
                   [](double x) { return x; }) < kUnlikely);
}

TEST_CASE("below() is uniform and reaches every value") {
  for (const std::uint64_t count : {1, 2, 3, 7, 33, 100}) {
    RandomStream random(8, count, 0);
    std::vector<double> seen(count);
    const double draws = 20'000;
    for (int i = 0; i < draws; ++i) {
      const std::uint64_t value = random.below(count);
      REQUIRE(value < count);
      ++seen[value];
    }
    double chi_square = 0;
    const double expected = draws / static_cast<double>(count);
    for (const double n : seen) chi_square += (n - expected) * (n - expected) / expected;
    // Wilson and Hilferty: its cube root is nearly normal.
    const double freedom = std::max(1.0, static_cast<double>(count) - 1);
    const double deviation = (std::cbrt(chi_square / freedom) - (1 - 2 / (9 * freedom))) / std::sqrt(2 / (9 * freedom));
    CHECK(deviation < 3.1);
  }
  RandomStream random(9, 0, 0);
  const std::uint64_t huge = std::uint64_t{3} << 62;
  CHECK(kolmogorov(sample_of(20'000, [&] { return static_cast<double>(random.below(huge)); }),
                   [&](double x) { return x / static_cast<double>(huge); }) < kUnlikely);
}

TEST_CASE("normal numbers are normal") {
  RandomStream random(1, 1, 1);
  CHECK(kolmogorov(sample_of(100'000, [&] { return random.normal(); }), normal_cdf) < kUnlikely);
}

TEST_CASE("Beta(alpha, alpha) has the distributions that are known in closed form") {
  RandomStream random(5, 5, 5);
  const auto sample = [&](double alpha) { return sample_of(50'000, [&] { return symmetric_beta(random, alpha); }); };
  CHECK(kolmogorov(sample(1), [](double x) { return x; }) < kUnlikely);
  CHECK(kolmogorov(sample(2), [](double x) { return x * x * (3 - 2 * x); }) < kUnlikely);
  CHECK(kolmogorov(sample(0.5), [](double x) { return 2 / std::numbers::pi * std::asin(std::sqrt(x)); }) < kUnlikely);
  // Nearly a coin at first, nearly a half at last.
  for (const double share : sample(1e-9)) REQUIRE((share < 1e-9 || share > 1 - 1e-9));
  for (const double share : sample(1e9)) REQUIRE(std::abs(share - 0.5) < 1e-3);
}
