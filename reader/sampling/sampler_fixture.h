// Datasets for tests of sampling, and the orders that samplers give them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "imgpack/sampler.h"
#include "tests/support/files.h"
#include "tests/support/store_fixture.h"

namespace imgpack::testing {

using Records = std::vector<std::uint64_t>;

/// Two thirds are "train", the others "val"; labels are 0, 1, 2, 0, 1, 2, ...
inline TestDataset sampled_dataset(std::size_t records) {
  TestDataset dataset = make_dataset({.records = records, .payload_size = 8});
  for (std::size_t i = 0; i < records; ++i) dataset.records[i].meta.label = static_cast<std::int64_t>(i % 3);
  return dataset;
}

/// An opened file of sampled_dataset(); the file goes with it.
class SampledFile {
 public:
  explicit SampledFile(std::size_t records, Format format = Format::rec) {
    const std::filesystem::path path = dir_ / fmt::format("data.{}", to_string(format));
    write_dataset(path, sampled_dataset(records), {.format = format});
    dataset_ = std::make_unique<Dataset>(Dataset::open(path));
  }
  operator const Dataset&() const { return *dataset_; }
  const Dataset& dataset() const { return *dataset_; }

 private:
  TempDir dir_;
  std::unique_ptr<Dataset> dataset_;
};

inline Records numbers(std::uint64_t begin, std::uint64_t end) {
  Records records(end - begin);
  std::iota(records.begin(), records.end(), begin);
  return records;
}

inline Records sorted(Records records) {
  std::sort(records.begin(), records.end());
  return records;
}

inline std::vector<Sample> samples_of(const Sampler& sampler, std::uint64_t epoch) {
  std::vector<Sample> samples(sampler.samples());
  sampler.fill(epoch, 0, samples);
  return samples;
}

inline Records records_of(const Sampler& sampler, std::uint64_t epoch) {
  Records records;
  for (const Sample& sample : samples_of(sampler, epoch)) records.push_back(sample.record);
  return records;
}

/// Of one dataset.
inline Sampler sampler_of(const DatasetShare& share, const Sampling& sampling = {}, std::uint64_t seed = 1) {
  return Sampler::create({share}, sampling, seed);
}

}  // namespace imgpack::testing
