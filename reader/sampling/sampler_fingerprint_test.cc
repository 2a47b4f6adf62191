// What a saved state is compared by: whether two samplers give the same order for the same seed and epoch.
#include <filesystem>
#include <set>

#include <doctest/doctest.h>

#include "formats/each_format.h"
#include "reader/sampling/sampler_fixture.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace {

std::uint64_t fingerprint(const std::vector<DatasetShare>& shares, const Sampling& sampling = {}) {
  return Sampler::create(shares, sampling, 1).fingerprint();
}

}  // namespace

TEST_CASE("each thing that decides the order is in the fingerprint") {
  const SampledFile a(30);
  const SampledFile b(31);
  const std::vector<double> weights = {1, 2, 3};
  const std::vector<double> of_records(30, 1.0);
  std::vector<double> of_records_too = of_records;
  of_records_too[29] = 2;
  const auto block = [](std::uint64_t records, std::uint64_t window) {
    return Sampling{.shuffle = Shuffle::block, .block_records = records, .window_blocks = window};
  };
  const std::vector<std::uint64_t> fingerprints = {
      fingerprint({{a}}),
      fingerprint({{b}}),
      fingerprint({{a, "train"}}),
      fingerprint({{a, "val"}}),
      fingerprint({{a, "", {1, 2}}}),
      fingerprint({{a, "", {2, 1}}}),
      fingerprint({{a, "", {1, 2, 2}}}),
      fingerprint({{a}}, {.shuffle = Shuffle::none}),
      fingerprint({{a}}, block(4, 2)),
      fingerprint({{a}}, block(5, 2)),
      fingerprint({{a}}, block(4, 3)),
      fingerprint({{.dataset = a, .class_weights = weights}}),
      fingerprint({{.dataset = a, .class_weights = {1, 2, 4}}}),
      fingerprint({{.dataset = a, .class_weights = weights}}, {.samples_per_epoch = 7}),
      fingerprint({{.dataset = a, .record_weights = of_records}}),
      fingerprint({{.dataset = a, .record_weights = of_records_too}}),
      fingerprint({{a}, {b}}),
      fingerprint({{b}, {a}}),
      fingerprint({{a}, {a}}),
      fingerprint({{a}, {b}, {b}}),
      fingerprint({{a}, {.dataset = b, .proportion = 2}}),
      fingerprint({{a}, {.dataset = b, .class_weights = weights}}),
      fingerprint({{a}, {.dataset = b, .class_weights = weights}}, {.shuffle = Shuffle::none}),
      fingerprint({{a}, {b}}, {.samples_per_epoch = 60}),
  };
  CHECK(std::set(fingerprints.begin(), fingerprints.end()).size() == fingerprints.size());
}

TEST_CASE("what does not change the order does not change the fingerprint") {
  const SampledFile a(30);
  const SampledFile b(31);
  const std::uint64_t plain = fingerprint({{a}});
  CHECK(Sampler::create({{a}}, {}, 2).fingerprint() == plain);
  CHECK(Sampler::create({{a}}, {}, 1).with_seed(7).fingerprint() == plain);
  CHECK(fingerprint({{.dataset = a, .proportion = 5}}) == plain);
  CHECK(fingerprint({{a}}, {.block_records = 3, .window_blocks = 1}) == plain);
  CHECK(fingerprint({{a}, {b}}) == fingerprint({{.dataset = a, .proportion = 3}, {.dataset = b, .proportion = 3}}));
  CHECK(fingerprint({{a}, {b}}) == fingerprint({{a}, {b}}, {.samples_per_epoch = 61}));
  const std::vector<DatasetShare> weighted = {{.dataset = a, .class_weights = {1, 2, 3}}};
  CHECK(fingerprint(weighted) == fingerprint(weighted, {.samples_per_epoch = 30}));
  CHECK(fingerprint(weighted) == fingerprint(weighted, {.shuffle = Shuffle::none}));
  CHECK(fingerprint(weighted) == fingerprint(weighted, {.shuffle = Shuffle::block, .block_records = 4}));
}

TEST_CASE("neither the path nor the format of a dataset is in the fingerprint, and the order is the same") {
  const SampledFile rec(30);
  const Sampling blocks{.shuffle = Shuffle::block, .block_records = 4, .window_blocks = 2};
  for_each_format([&](Format format) {
    const SampledFile file(30, format);
    CHECK(file.dataset().path() != rec.dataset().path());
    CHECK(fingerprint({{file, "train"}}) == fingerprint({{rec, "train"}}));
    for (const Sampling& sampling : {Sampling{}, blocks, Sampling{.shuffle = Shuffle::block}}) {
      CHECK(fingerprint({{file}}, sampling) == fingerprint({{rec}}, sampling));
      CHECK(records_of(sampler_of({file}, sampling), 2) == records_of(sampler_of({rec}, sampling), 2));
    }
  });
}

TEST_CASE("other content is another fingerprint") {
  TempDir dir;
  std::set<std::uint64_t> seen;
  const auto add = [&](const TestDataset& dataset) {
    const std::filesystem::path path = dir / fmt::format("{}.rec", seen.size());
    write_dataset(path, dataset, {});
    CHECK(seen.insert(fingerprint({{Dataset::open(path)}})).second);
  };
  TestDataset dataset = sampled_dataset(6);
  add(dataset);
  dataset.records[3].meta.label = 2;
  add(dataset);
  dataset.records[3].key += " too";
  add(dataset);
  dataset.records[5].payload[0] ^= 1;
  add(dataset);
  std::swap(dataset.records[0], dataset.records[1]);
  add(dataset);
  dataset.records[3].split = 1;
  add(dataset);
}
