// Small datasets, and what the tests of this folder do with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tfrecord/example.pb.h"
#include "imgpack/store.h"

namespace imgpack::testing {

struct TestRecord {
  std::string key;
  RecordMeta meta;
  std::uint32_t split = 0;
  std::vector<std::byte> payload;
  std::vector<std::byte> segments;
  std::vector<std::string> fields;
};

struct TestDataset {
  DatasetInfo info;
  std::vector<TestRecord> records;
};

/// Three classes, two splits, a field of each type, JPEG and PNG, with and without segments.
TestDataset make_dataset(std::size_t records);
/// The same kind without splits and fields.
TestDataset make_plain_dataset(std::size_t records);

/// Described. `fields` holds the views of the field values.
Record view_of(const TestRecord& record, std::vector<std::string_view>& fields);
void append_records(StoreWriter& writer, const TestDataset& dataset, std::size_t begin, std::size_t end);
StoreOptions tfrecord_options();
void write_dataset(const std::filesystem::path& path, const TestDataset& dataset);

class DamageList final : public DamageSink {
 public:
  bool report(Damage damage) override;
  std::vector<Damage> found() const;
  bool empty() const { return found().empty(); }
  bool names_record(std::uint64_t record) const;

 private:
  mutable std::mutex mutex_;
  std::vector<Damage> found_;
};

/// write_file without truncation to nothing first: ext4 answers that with a flush, which thousands of times takes
/// minutes.
void overwrite_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// Makes `path` older than what lies beside it, as writers leave it.
void make_older(const std::filesystem::path& path);

// Defined in tfrecord_test_checks.cc, for programs with doctest.

/// Fails the running test where the store differs from the dataset.
void check_holds(const StoreReader& store, const TestDataset& dataset);

/// Verifies, and reads everything that can be read. Whatever is thrown, except for damage, is not caught.
void inspect(const std::filesystem::path& path, DamageList& found);

// Examples as others write them.

void set_bytes(tfrecord::Example& example, const std::string& name, const std::string& value);
void set_int(tfrecord::Example& example, const std::string& name, std::int64_t value);
std::string frame_of(const std::string& data);
std::string frame_of(const tfrecord::Example& example);

}  // namespace imgpack::testing
