// Small datasets for tests of stores: made record by record, and compared record by record.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "imgpack/store.h"

namespace imgpack::testing {

struct TestRecord {
  std::string key;
  RecordMeta meta;
  std::uint32_t split = 0;
  std::string payload;
  std::string segments;
  std::vector<std::string> fields;
};

struct TestDataset {
  DatasetInfo info;
  std::vector<TestRecord> records;
};

struct TestDatasetOptions {
  std::size_t records = 10;
  std::size_t payload_size = 300;  ///< of the first; others differ by their number
  bool segments = false;
  bool fields = false;
  std::optional<RawShape> raw_shape;  ///< payloads are pixels of this size instead
};

/// Two splits, three classes, every codec number in turn; the same on every call.
TestDataset make_dataset(const TestDatasetOptions& options = {});

/// Appends `records` from number `first` on.
void append_records(StoreWriter& writer, const TestDataset& dataset, std::size_t first, std::size_t end);

/// Writes a whole dataset.
void write_dataset(const std::filesystem::path& path, const TestDataset& dataset, const StoreOptions& options);

/// CHECKs that `store` holds exactly `dataset`.
void check_equal(const StoreReader& store, const TestDataset& dataset);

}  // namespace imgpack::testing
