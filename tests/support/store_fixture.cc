#include "tests/support/store_fixture.h"

#include <array>

#include <fmt/format.h>

#include "mmap/little_endian.h"
#include "tests/support/files.h"

namespace imgpack::testing {

namespace {

constexpr std::array kCodecs = {Codec::jpeg, Codec::png, Codec::webp, Codec::bmp, Codec::tiff, Codec::gif};

std::string pattern(std::size_t size, std::uint32_t seed) {
  std::string text(size, '\0');
  std::uint32_t state = seed * 2654435761u + 1;
  for (char& c : text) {
    state = state * 1664525u + 1013904223u;
    c = static_cast<char>(state >> 24);
  }
  return text;
}

std::string packed_int64(std::int64_t value) {
  std::vector<std::byte> bytes;
  append_le(bytes, value);
  return std::string(as_text(bytes));
}

}  // namespace

TestDataset make_dataset(const TestDatasetOptions& options) {
  TestDataset dataset;
  dataset.info.classes = {
      {.name = "cat", .words = "cats, felines"}, {.name = "dog", .words = ""}, {.name = "ünicorn", .words = "🦄"}};
  dataset.info.splits = {{.name = "train", .begin = 0, .end = 0}, {.name = "val", .begin = 0, .end = 0}};
  dataset.info.transform = {{"encode", "keep"}};
  dataset.info.source_kind = "splits";
  dataset.info.source_name = "animals";
  dataset.info.tool_version = "0.1.0";
  dataset.info.metadata = {{"licence", "CC0"}};
  if (options.fields) {
    dataset.info.fields = {{.name = "age", .type = FieldType::int64, .shape = {}},
                           {.name = "box", .type = FieldType::float32, .shape = {4}},
                           {.name = "note", .type = FieldType::bytes, .shape = {}}};
  }
  for (std::size_t i = 0; i < options.records; ++i) {
    TestRecord record;
    const auto number = static_cast<std::uint32_t>(i);
    const bool train = i < options.records * 2 / 3;
    record.split = train ? 0 : 1;
    record.key = fmt::format("{}/{}/image {} ü.JPEG", train ? "train" : "val", i % 3, i);
    record.payload = pattern(options.payload_size + i * 7, number);
    if (options.segments && i % 4 != 3) record.segments = pattern(20 + i, number + 1000);
    record.meta.label = static_cast<std::int64_t>(i % 4) - 1;
    record.meta.width = 500 + number;
    record.meta.height = 375 + number % 3;
    record.meta.channels = static_cast<std::uint8_t>(1 + i % 4);
    record.meta.codec = kCodecs[i % kCodecs.size()];
    if (const auto& shape = options.raw_shape) {
      record.payload = pattern(shape->bytes(), number);
      record.meta.width = shape->width;
      record.meta.height = shape->height;
      record.meta.channels = 3;
      record.meta.codec = Codec::raw_rgb8;
    }
    if (options.fields)
      record.fields = {packed_int64(-static_cast<std::int64_t>(i)), pattern(16, number + 7), pattern(i % 5, number)};
    dataset.records.push_back(std::move(record));
  }
  return dataset;
}

void append_records(StoreWriter& writer, const TestDataset& dataset, std::size_t first, std::size_t end) {
  for (std::size_t i = first; i < end; ++i) {
    const TestRecord& from = dataset.records[i];
    const std::vector<std::string_view> fields(from.fields.begin(), from.fields.end());
    Record record;
    record.key = from.key;
    record.meta = from.meta;
    record.split = from.split;
    record.payload = as_bytes(from.payload);
    record.segments = as_bytes(from.segments);
    record.fields = fields;
    record.describe();
    writer.append(record);
  }
}

void write_dataset(const std::filesystem::path& path, const TestDataset& dataset, const StoreOptions& options) {
  StoreOptions with_count = options;
  with_count.expected_records = dataset.records.size();
  const auto writer = StoreWriter::create(path, dataset.info, with_count);
  append_records(*writer, dataset, 0, dataset.records.size());
  writer->finish();
}

}  // namespace imgpack::testing
