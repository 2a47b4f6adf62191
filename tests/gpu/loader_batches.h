// Batches of a loader, wherever it made them, as values in host memory; and a dataset with all kinds of records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "imgpack/loader.h"
#include "tests/support/files.h"

namespace imgpack::testing {

/// In "train": 48 JPEGs with a segment index, some of them gray, 6 progressive ones and 6 PNGs, which the CPU decodes,
/// of three classes; in "val" 15 JPEGs.
class PackedKinds {
 public:
  PackedKinds();
  Dataset open() const { return Dataset::open(path_); }
  const std::filesystem::path& path() const { return path_; }
  static constexpr std::uint64_t kTrain = 60;

 private:
  TempDir dir_;
  std::filesystem::path path_;
};

struct HostBatch {
  DType dtype = DType::f32;
  std::vector<std::byte> images;
  std::vector<std::int64_t> labels;
  std::vector<float> soft_labels;
  std::vector<std::uint8_t> mask;
  std::vector<std::uint64_t> records;
  std::uint64_t step = 0;
};

/// Copied through CUDA's default stream, from the device's copies of labels and mask.
HostBatch host_batch(const Batch& batch);
/// All that is left of an epoch.
std::vector<HostBatch> host_batches(Epoch epoch);

/// Whether two batches are the same, images of every dtype bit for bit. What differs is told by doctest.
void check_same(const HostBatch& first, const HostBatch& second);
void check_same(const std::vector<HostBatch>& first, const std::vector<HostBatch>& second);

}  // namespace imgpack::testing
