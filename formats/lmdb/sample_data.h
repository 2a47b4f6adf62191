// Datasets for the tests of the LMDB format: the same bytes on every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "imgpack/store.h"

namespace imgpack::testing {

/// A record that owns its bytes.
struct SampleRecord {
  std::string key;
  RecordMeta meta;
  std::uint32_t split = 0;
  std::vector<std::byte> payload;
  std::vector<std::byte> segments;
  std::vector<std::string> fields;
};

struct Sample {
  DatasetInfo info;  ///< as given to a writer
  std::vector<SampleRecord> records;
};

/// Bytes without structure.
std::vector<std::byte> noise(std::size_t size, std::uint32_t seed);

/// `count` records without fields and segments, payload sizes given by `size_of(record number)`.
template <typename SizeOf>
Sample plain_sample(std::uint64_t count, SizeOf&& size_of);

/// One of everything: JPEGs, payloads from 0 bytes to over 1 MB, segments, all kinds of fields, an empty key and one of
/// 70,000 bytes, classes and splits. With `small`, nothing larger than two pages.
Sample rich_sample(bool small);

StoreOptions lmdb_options(bool resume = false);
std::unique_ptr<StoreWriter> create_writer(const std::filesystem::path& path, const Sample& sample,
                                           bool resume = false);
/// Appends records [writer.records(), end).
void append_until(StoreWriter& writer, const Sample& sample, std::uint64_t end);
/// Writes the whole sample to `path`.
void write_sample(const std::filesystem::path& path, const Sample& sample);

/// Remembers what was reported.
class DamageList final : public DamageSink {
 public:
  bool report(Damage damage) override {
    found.push_back(std::move(damage));
    return true;
  }
  std::vector<Damage> found;
};

void describe(SampleRecord& record);

template <typename SizeOf>
Sample plain_sample(std::uint64_t count, SizeOf&& size_of) {
  Sample sample;
  sample.info.source_kind = "test";
  for (std::uint64_t i = 0; i < count; ++i) {
    SampleRecord record;
    record.key = "folder/" + std::to_string(i * 7919 % 1000003) + ".jpg";
    record.meta.label = static_cast<std::int64_t>(i % 10);
    record.meta.width = static_cast<std::uint32_t>(i % 500 + 1);
    record.meta.height = 3;
    record.meta.channels = 3;
    record.meta.codec = Codec::jpeg;
    record.payload = noise(size_of(i), static_cast<std::uint32_t>(i));
    describe(record);
    sample.records.push_back(std::move(record));
  }
  return sample;
}

}  // namespace imgpack::testing
