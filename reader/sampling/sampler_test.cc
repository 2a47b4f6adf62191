// Orders of one dataset, each record once; blocks, weights, mixtures and fingerprints have tests of their own.
#include "imgpack/sampler.h"

#include <limits>
#include <set>
#include <tuple>

#include <doctest/doctest.h>

#include "formats/shards.h"
#include "imgpack/error.h"
#include "reader/random/random_stream.h"
#include "reader/sampling/sampler_fixture.h"
#include "tests/support/thrown.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace {

constexpr Shuffle kShuffles[] = {Shuffle::full, Shuffle::block, Shuffle::none};

bool equal(const Sample& a, const Sample& b) {
  return a.record == b.record && a.dataset == b.dataset && a.padding == b.padding && a.draw == b.draw;
}

/// fill() from anywhere and at() give what fill() of the whole epoch gives.
void check_fill(const Sampler& sampler) {
  RandomStream stream(1, 2, 3);
  for (const std::uint64_t epoch : {0u, 1u, 7u}) {
    const std::vector<Sample> all = samples_of(sampler, epoch);
    for (std::uint64_t i = 0; i < all.size(); ++i) CHECK(equal(sampler.at(epoch, i), all[i]));
    for (int round = 0; round < 50; ++round) {
      const std::uint64_t begin = stream.below(all.size() + 1);
      std::vector<Sample> part(stream.below(all.size() - begin + 1));
      sampler.fill(epoch, begin, part);
      for (std::uint64_t i = 0; i < part.size(); ++i) CHECK(equal(part[i], all[begin + i]));
    }
  }
}

}  // namespace

TEST_CASE("an epoch has each record of its split exactly once") {
  const SampledFile file(100);
  for (const Shuffle shuffle : kShuffles) {
    CAPTURE(to_string(shuffle));
    const Sampling sampling{.shuffle = shuffle, .block_records = 7, .window_blocks = 3};
    for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
      CHECK(sorted(records_of(sampler_of({file}, sampling), epoch)) == numbers(0, 100));
      CHECK(sorted(records_of(sampler_of({file, "train"}, sampling), epoch)) == numbers(0, 66));
      CHECK(sorted(records_of(sampler_of({file, "val"}, sampling), epoch)) == numbers(66, 100));
    }
    for (const Sample& sample : samples_of(sampler_of({file}, sampling), 3)) {
      CHECK(sample.dataset == 0);
      CHECK(sample.draw == 0);
      CHECK_FALSE(sample.padding);
    }
  }
}

TEST_CASE("without shuffling the order is the file's") {
  const SampledFile file(20);
  const Sampler sampler = sampler_of({file, "val"}, {.shuffle = Shuffle::none});
  CHECK(sampler.samples() == 7);
  CHECK(records_of(sampler, 0) == numbers(13, 20));
  CHECK(records_of(sampler, 5) == numbers(13, 20));
  CHECK(records_of(sampler.with_seed(2), 0) == numbers(13, 20));
}

TEST_CASE("epochs and seeds differ, and the same ones are the same") {
  const SampledFile file(60);
  for (const Shuffle shuffle : {Shuffle::full, Shuffle::block}) {
    CAPTURE(to_string(shuffle));
    const Sampling sampling{.shuffle = shuffle, .block_records = 7, .window_blocks = 3};
    std::set<Records> seen;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const Sampler sampler = sampler_of({file}, sampling, seed);
      CHECK(sampler.seed() == seed);
      const Sampler same = sampler_of({file}, sampling, seed + 1).with_seed(seed);
      CHECK(same.seed() == seed);
      for (std::uint64_t epoch = 0; epoch < 10; ++epoch) {
        const Records records = records_of(sampler, epoch);
        CHECK(records == records_of(same, epoch));
        CHECK(seen.insert(records).second);
      }
    }
  }
}

TEST_CASE("orders never change: runs go on from what earlier versions saved") {
  const SampledFile file(12);
  const SampledFile other(5);
  const auto order = [](const std::vector<DatasetShare>& shares, const Sampling& sampling) {
    return fmt::format("{}", fmt::join(records_of(Sampler::create(shares, sampling, 5), 3), " "));
  };
  const Sampling blocks{.shuffle = Shuffle::block, .block_records = 2, .window_blocks = 3};
  CHECK(order({{file}}, {}) == "3 6 10 7 11 2 9 8 5 0 4 1");
  CHECK(order({{file}}, blocks) == "10 0 6 11 1 7 2 8 5 9 3 4");
  CHECK(order({{.dataset = file, .class_weights = {1, 2, 3}}}, {}) == "5 9 1 2 5 7 8 8 2 2 2 8");
  CHECK(order({{file}, {other}}, {}) == "1 7 9 3 4 0 4 1 6 0 1 7 0 2 3 0 11");
}

TEST_CASE("a split of several ranges is their sequence") {
  TempDir dir;
  for (std::uint32_t shard = 0; shard < 3; ++shard) {
    TestDataset part = sampled_dataset(9);
    for (TestRecord& record : part.records) record.key += fmt::format(" of {}", shard);
    write_dataset(shard_path(dir / "data.rec", shard, 3), part, {});
  }
  const Dataset dataset = Dataset::open(dir / "data.rec");
  const Records train = {0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 14, 18, 19, 20, 21, 22, 23};
  const Records val = {6, 7, 8, 15, 16, 17, 24, 25, 26};
  CHECK(records_of(sampler_of({dataset, "train"}, {.shuffle = Shuffle::none}), 0) == train);
  CHECK(records_of(sampler_of({dataset, "val"}, {.shuffle = Shuffle::none}), 0) == val);
  for (const Shuffle shuffle : kShuffles) {
    const Sampling sampling{.shuffle = shuffle, .block_records = 4, .window_blocks = 2};
    CHECK(sorted(records_of(sampler_of({dataset, "train"}, sampling), 1)) == train);
    CHECK(sorted(records_of(sampler_of({dataset, "val"}, sampling), 1)) == val);
    CHECK(sorted(records_of(sampler_of({dataset}, sampling), 1)) == numbers(0, 27));
  }
}

TEST_CASE("a list of records is an order of its own") {
  const SampledFile file(30);
  const Records list = {7, 3, 29, 0, 15};
  CHECK(records_of(sampler_of({file, "", list}, {.shuffle = Shuffle::none}), 0) == list);
  for (const Shuffle shuffle : kShuffles) {
    const Sampler sampler = sampler_of({file, "", list}, {.shuffle = shuffle, .block_records = 2});
    CHECK(sampler.samples() == 5);
    CHECK(sorted(records_of(sampler, 4)) == sorted(list));
    for (const Sample& sample : samples_of(sampler, 4)) CHECK(sample.draw == 0);
  }
}

TEST_CASE("what a list names several times is told apart") {
  const SampledFile file(10);
  const Records list = {4, 4, 9, 4, 0, 9};
  for (const Shuffle shuffle : kShuffles) {
    const Sampler sampler = sampler_of({file, "", list}, {.shuffle = shuffle});
    CHECK(sorted(records_of(sampler, 2)) == sorted(list));
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
    for (const Sample& sample : samples_of(sampler, 2)) CHECK(seen.emplace(sample.record, sample.draw).second);
  }
  const Sampler mixed = Sampler::create({{file, "", list}, {file, "val"}}, {.samples_per_epoch = 10'000}, 1);
  std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>> seen;
  for (const Sample& sample : samples_of(mixed, 1)) {
    CHECK(seen.emplace(sample.dataset, sample.record, sample.draw).second);
  }
}

TEST_CASE("one record is an epoch") {
  const SampledFile file(5);
  for (const Shuffle shuffle : kShuffles) {
    CHECK(records_of(sampler_of({file, "", {3}}, {.shuffle = shuffle}), 9) == Records{3});
  }
}

TEST_CASE("any part of an epoch is what it is in the whole") {
  const SampledFile file(50);
  const SampledFile other(7);
  for (const Shuffle shuffle : kShuffles) {
    CAPTURE(to_string(shuffle));
    const Sampling sampling{.shuffle = shuffle, .block_records = 4, .window_blocks = 3};
    Sampling longer = sampling;
    longer.samples_per_epoch = 333;
    const std::vector<double> weights = {1, 0, 2};
    check_fill(sampler_of({file, "train"}, sampling));
    check_fill(sampler_of({.dataset = file, .class_weights = weights}, sampling));
    check_fill(sampler_of({.dataset = file, .class_weights = weights}, longer));
    check_fill(Sampler::create({{file}, {.dataset = other, .proportion = 0.1}}, longer, 3));
    check_fill(Sampler::create({{file}, {.dataset = other, .class_weights = weights}}, longer, 3));
  }
}

TEST_CASE("what cannot be sampled is refused") {
  const SampledFile file(12);
  TestDataset unlabelled = sampled_dataset(3);
  unlabelled.records[2].meta.label = kNoLabel;
  TempDir dir;
  write_dataset(dir / "unlabelled.rec", unlabelled, {});
  write_dataset(dir / "empty.rec", sampled_dataset(0), {});
  const Dataset without = Dataset::open(dir / "unlabelled.rec");
  const Dataset empty = Dataset::open(dir / "empty.rec");
  const auto check_refused = [&](std::vector<DatasetShare> shares, const Sampling& sampling, std::string_view part,
                                 ErrorCode code = ErrorCode::invalid_argument) {
    const Error error = error_of([&] { Sampler::create(shares, sampling, 1); });
    CAPTURE(error.what());
    CHECK(error.code() == code);
    CHECK(error.message().find(part) != std::string::npos);
    if (shares.size() == 1) CHECK((error.place().file.empty() || error.place().file == shares[0].dataset.path()));
  };
  const double infinite = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check_refused({}, {}, "no dataset");
  check_refused({{file, "test"}}, {}, "train, val", ErrorCode::not_found);
  check_refused({{empty}}, {}, "no records");
  check_refused({{file, "train", {1}}}, {}, "not both");
  check_refused({{file, "", {1, 12}}}, {}, "record 12");
  check_refused({{file}}, {.shuffle = Shuffle::block, .window_blocks = 0}, "window");
  check_refused({{file}}, {.samples_per_epoch = 5}, "samples_per_epoch");
  for (const double wrong : {-1.0, infinite, nan}) {
    check_refused({{.dataset = file, .class_weights = {1, wrong, 1}}}, {}, "weight");
    check_refused({{.dataset = file, .class_weights = {1, 1, 1, wrong}}}, {}, "weight");
    check_refused({{.dataset = file, .records = {1, 2}, .record_weights = {1, wrong}}}, {}, "weight");
    check_refused({{.dataset = file, .proportion = wrong}}, {}, "proportion");
    check_refused({{file}, {.dataset = file, .proportion = wrong}}, {}, "proportion");
  }
  check_refused({{file}, {.dataset = file, .proportion = 0}}, {}, "proportion");
  check_refused({{.dataset = file, .class_weights = {0, 0, 0}}}, {}, "weights are 0");
  check_refused({{.dataset = file, .records = {0, 3}, .class_weights = {0, 1, 1}}}, {}, "weights are 0");
  check_refused({{.dataset = file, .record_weights = std::vector<double>(12, 0.0)}}, {}, "weights are 0");
  check_refused({{.dataset = file, .class_weights = {1, 1}}}, {}, "label 2");
  check_refused({{.dataset = without, .class_weights = {1, 1, 1}}}, {}, "label -1");
  check_refused({{.dataset = file, .record_weights = {1, 2}}}, {}, "2 weights for 12 records");
  check_refused({{.dataset = file, .split = "val", .record_weights = std::vector<double>(12, 1.0)}}, {}, "for 4");
  check_refused({{.dataset = file, .class_weights = {1, 1, 1}, .record_weights = std::vector<double>(12, 1.0)}}, {},
                "not both");
  check_refused(std::vector<DatasetShare>(4097, DatasetShare{file}), {}, "4096");
}

TEST_CASE("names of orders and last batches lead back to them") {
  for (const Shuffle shuffle : kShuffles) CHECK(shuffle_from_name(to_string(shuffle)) == shuffle);
  CHECK(to_string(Shuffle::block) == "block");
  CHECK_FALSE(shuffle_from_name("Full").has_value());
  for (const LastBatch last : {LastBatch::partial, LastBatch::drop, LastBatch::pad}) {
    CHECK(last_batch_from_name(to_string(last)) == last);
  }
  CHECK(to_string(LastBatch::pad) == "pad");
  CHECK_FALSE(last_batch_from_name("").has_value());
}
