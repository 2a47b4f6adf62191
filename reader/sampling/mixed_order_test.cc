// Samplers of several datasets.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "reader/sampling/mixture.h"
#include "reader/sampling/sampler_fixture.h"
#include "tests/support/statistics.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace {

constexpr std::uint64_t kPeriod = Mixture::kPeriod;

/// The first `count` samples of epochs one after the other.
std::vector<Sample> samples_from_start(const Sampler& sampler, std::uint64_t count) {
  std::vector<Sample> samples;
  for (std::uint64_t epoch = 0; samples.size() < count; ++epoch) {
    const std::vector<Sample> more = samples_of(sampler, epoch);
    samples.insert(samples.end(), more.begin(), more.end());
  }
  samples.resize(count);
  return samples;
}

}  // namespace

TEST_CASE("an epoch of several datasets has as many samples as they have records, or as are asked for") {
  const SampledFile a(100);
  const SampledFile b(40);
  CHECK(Sampler::create({{a}, {b}}, {}, 1).samples() == 140);
  CHECK(Sampler::create({{a, "val"}, {b, "", {1, 2}}}, {}, 1).samples() == 36);
  CHECK(Sampler::create({{a}, {b}}, {.samples_per_epoch = 7}, 1).samples() == 7);
  const Sampler sampler = Sampler::create({{a}, {b}}, {}, 1);
  REQUIRE(sampler.shares().size() == 2);
  CHECK(sampler.shares()[1].dataset.path() == b.dataset().path());
}

TEST_CASE("proportions are exact in every 4096 samples, on through the epochs") {
  const SampledFile a(100);
  const SampledFile b(40);
  const SampledFile c(3);
  for (const std::uint64_t per_epoch : {1000u, 4096u, 5000u}) {
    const Sampler sampler = Sampler::create({{.dataset = a, .proportion = 3}, {b}, {.dataset = c, .proportion = 1e-9}},
                                            {.samples_per_epoch = per_epoch}, 1);
    const std::vector<Sample> samples = samples_from_start(sampler, 6 * kPeriod);
    for (std::uint64_t begin = 0; begin < samples.size(); begin += kPeriod) {
      std::vector<std::uint64_t> counts(3);
      for (std::uint64_t i = begin; i < begin + kPeriod; ++i) ++counts.at(samples[i].dataset);
      CHECK(counts == std::vector<std::uint64_t>{3071, 1024, 1});
    }
  }
}

TEST_CASE("all of a dataset is seen before any of it is seen again, on through the epochs") {
  const SampledFile a(100);
  const SampledFile b(60);
  for (const Shuffle shuffle : {Shuffle::full, Shuffle::block, Shuffle::none}) {
    CAPTURE(to_string(shuffle));
    const Sampling sampling{.shuffle = shuffle, .block_records = 7, .window_blocks = 2, .samples_per_epoch = 999};
    const Sampler sampler = Sampler::create({{a}, {.dataset = b, .split = "train", .proportion = 0.01}}, sampling, 1);
    const std::vector<Sample> samples = samples_from_start(sampler, 5 * kPeriod);
    std::vector<std::map<std::uint64_t, std::uint64_t>> seen(2);  // how often each record
    std::vector<std::set<std::pair<std::uint64_t, std::uint64_t>>> occurrences(2);
    for (std::uint64_t i = 0; i < samples.size(); ++i) {
      const Sample& sample = samples[i];
      ++seen.at(sample.dataset)[sample.record];
      CHECK(occurrences[sample.dataset].emplace(sample.draw, sample.record).second);
      if ((i + 1) % kPeriod != 0) continue;
      for (std::size_t dataset = 0; dataset < 2; ++dataset) {
        const std::uint64_t size = dataset == 0 ? 100 : 40;
        std::uint64_t least = seen[dataset].size() < size ? 0 : ~std::uint64_t{0};
        std::uint64_t most = 0;
        for (const auto& [record, count] : seen[dataset]) {
          CHECK(record < size);
          least = std::min(least, count);
          most = std::max(most, count);
        }
        CHECK(most <= least + 1);
      }
    }
    CHECK(seen[1].size() == 40);
  }
}

TEST_CASE("each pass has an order of its own, unless nothing is shuffled") {
  const SampledFile a(10);
  const SampledFile b(10);
  for (const Shuffle shuffle : {Shuffle::full, Shuffle::block, Shuffle::none}) {
    const Sampling sampling{.shuffle = shuffle, .block_records = 3, .window_blocks = 2, .samples_per_epoch = kPeriod};
    // With as many datasets as slots, each has one sample a period: its samples come in the order of their numbers.
    std::vector<DatasetShare> shares(kPeriod, DatasetShare{a});
    shares[1] = {b};
    const Sampler sampler = Sampler::create(shares, sampling, 1);
    std::vector<Records> orders(2);
    for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
      for (const Sample& sample : samples_of(sampler, epoch)) {
        if (sample.dataset < 2) orders[sample.dataset].push_back(sample.record);
        CHECK(sample.draw == epoch / 10);
      }
    }
    std::set<Records> passes;
    for (const Records& order : orders) {
      REQUIRE(order.size() == 50);
      for (auto begin = order.begin(); begin != order.end(); begin += 10) {
        passes.emplace(begin, begin + 10);
        CHECK(sorted({begin, begin + 10}) == numbers(0, 10));
      }
    }
    CHECK(passes.size() == (shuffle == Shuffle::none ? 1 : 10));
  }
}

TEST_CASE("windows are shuffled anew in each pass") {
  const SampledFile a(10);
  const Sampling sampling{.shuffle = Shuffle::block, .block_records = 10, .samples_per_epoch = kPeriod};
  const Sampler sampler = Sampler::create(std::vector<DatasetShare>(kPeriod, DatasetShare{a}), sampling, 1);
  std::set<Records> orders;  // from each pass's first record on: one block differs by where it begins, else
  for (std::uint64_t pass = 0; pass < 10; ++pass) {
    Records order;
    for (std::uint64_t epoch = 10 * pass; epoch < 10 * pass + 10; ++epoch) {
      for (const Sample& sample : samples_of(sampler, epoch)) {
        if (sample.dataset == 0) order.push_back(sample.record);
      }
    }
    REQUIRE(order.size() == 10);
    const std::uint64_t first = order.front();
    for (std::uint64_t& record : order) record = (record + 10 - first) % 10;
    CHECK(orders.insert(order).second);
  }
}

TEST_CASE("draws of one dataset are not those of another") {
  const SampledFile a(30);
  const DatasetShare share{.dataset = a, .class_weights = {1, 1, 1}};
  const Sampler sampler = Sampler::create({share, share}, {.samples_per_epoch = kPeriod}, 1);
  std::vector<std::map<std::uint64_t, std::uint64_t>> records(2);  // by draw
  for (const Sample& sample : samples_of(sampler, 0)) records.at(sample.dataset)[sample.draw] = sample.record;
  REQUIRE(records[0].size() == 2048);
  std::uint64_t same = 0;
  for (const auto& [draw, record] : records[0]) same += records[1].at(draw) == record ? 1 : 0;
  CHECK(same > 2048 / 30 / 2);
  CHECK(same < 2048 / 30 * 2);
}

TEST_CASE("weighted datasets are drawn from, others gone through") {
  const SampledFile a(30);
  const SampledFile b(10);
  const Sampler sampler =
      Sampler::create({{.dataset = a, .class_weights = {1, 0, 3}}, {b}}, {.samples_per_epoch = 1024}, 1);
  std::vector<std::uint64_t> drawn(3);
  std::map<std::uint64_t, std::uint64_t> gone_through;
  std::set<std::uint64_t> draws;
  for (const Sample& sample : samples_from_start(sampler, 4 * kPeriod)) {
    if (sample.dataset == 1) {
      ++gone_through[sample.record];
    } else {
      ++drawn[sample.record % 3];
      CHECK(draws.insert(sample.draw).second);
    }
  }
  const std::vector<double> expected = {2 * kPeriod * 0.25, 0, 2 * kPeriod * 0.75};
  CHECK(std::abs(chi_square_deviations(chi_square(drawn, expected), 1)) < kFair);
  for (const auto& [record, count] : gone_through) CHECK(std::abs(static_cast<double>(count) - 819.2) < 1);
}
