// Small datasets for the tests of this folder, written through the backend as a StoreWriter drives it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "formats/backend.h"
#include "imgpack/store.h"

namespace imgpack::testing {

struct TestRecord {
  std::string key;
  RecordMeta meta;
  std::vector<std::byte> payload;
  std::vector<std::byte> segments;
  std::vector<std::string> fields;
};

struct TestDataset {
  DatasetInfo info;
  std::vector<TestRecord> records;
};

struct TestOptions {
  std::size_t records = 12;
  bool fields = false;
  bool segments = false;
  std::size_t payload_size = 0;  ///< 0: real JPEGs; else that many bytes of noise
};

TestDataset make_dataset(const TestOptions& options);

/// What a StoreWriter does with a backend, in steps that a test can interrupt.
class BackendRun {
 public:
  /// With `resume`, goes on from what an earlier run left.
  BackendRun(const std::filesystem::path& path, const TestDataset& dataset, bool resume = false);
  std::uint64_t records() const { return log_->records(); }
  /// Appends records up to number `end` and hands them to the kernel.
  void append_until(std::size_t end);
  void finish();
  StoreBackend& backend() { return *backend_; }

 private:
  std::filesystem::path path_;
  const TestDataset& dataset_;
  File log_file_;
  std::unique_ptr<StoreBackend> backend_;
  std::unique_ptr<RecordLog> log_;
};

/// Writes all of `dataset` to `path`.
void write_hdf5(const std::filesystem::path& path, const TestDataset& dataset);

/// Compares every record and all that is known of it. Uses doctest's CHECK.
void check_same(const StoreReader& store, const TestDataset& dataset);

}  // namespace imgpack::testing
