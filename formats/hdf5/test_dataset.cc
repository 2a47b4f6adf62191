#include "formats/hdf5/test_dataset.h"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "formats/hdf5/hdf5_format.h"
#include "tests/support/files.h"
#include "tests/support/images.h"

namespace imgpack::testing {

namespace {

std::vector<std::byte> noise(std::size_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

std::string packed(const auto& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]);
}

std::vector<std::string> field_values(std::size_t number) {
  const auto n = static_cast<std::int64_t>(number);
  return {packed(std::vector<std::int64_t>{n * 1'000'000'007}),
          packed(std::vector<float>{static_cast<float>(number), 0.5F, -1.0F, 2.0F, 3.0F, 4.0F}),
          std::string(number % 3 == 0 ? 0 : number, 'x')};
}

TestRecord make_record(std::size_t number, const TestOptions& options) {
  const auto seed = static_cast<std::uint32_t>(number);
  const int width = 8 + static_cast<int>(number % 5);
  TestRecord record;
  record.key = fmt::format("train/n{:08}/{}.JPEG", number % 3, number);
  record.meta = {.label = static_cast<std::int64_t>(number % 3),
                 .width = static_cast<std::uint32_t>(width),
                 .height = 8,
                 .channels = 3,
                 .codec = Codec::jpeg,
                 .payload_size = 0,
                 .segments_size = 0,
                 .checksum = 0};
  record.payload = options.payload_size == 0 ? make_jpeg(width, 8, seed) : noise(options.payload_size, seed);
  if (options.segments && number % 2 == 0) record.segments = noise(4 * number, seed + 77);
  if (options.fields) record.fields = field_values(number);
  return record;
}

Record view(const TestRecord& record, std::vector<std::string_view>& fields) {
  fields.assign(record.fields.begin(), record.fields.end());
  Record result{.key = record.key,
                .meta = record.meta,
                .split = 0,
                .payload = record.payload,
                .segments = record.segments,
                .fields = fields};
  result.describe();
  return result;
}

std::filesystem::path beside(const std::filesystem::path& path, std::string_view ending) {
  return path.string() + std::string(ending);
}

}  // namespace

TestDataset make_dataset(const TestOptions& options) {
  TestDataset dataset;
  DatasetInfo& info = dataset.info;
  for (const char* name : {"n00000000", "tench", "Bärlapp"}) info.classes.push_back({.name = name, .words = "words"});
  info.transform = {{"encode", "keep"}};
  info.source_kind = "class-folders";
  info.tool_version = "test";
  if (options.fields) {
    info.fields = {{.name = "id", .type = FieldType::int64, .shape = {}},
                   {.name = "box/2d", .type = FieldType::float32, .shape = {3, 2}},
                   {.name = "caption", .type = FieldType::bytes, .shape = {}}};
  }
  for (std::size_t i = 0; i < options.records; ++i) dataset.records.push_back(make_record(i, options));
  info.records = dataset.records.size();
  for (const TestRecord& record : dataset.records) {
    info.payload_bytes += record.payload.size();
    info.pixels += std::uint64_t{record.meta.width} * record.meta.height;
  }
  return dataset;
}

BackendRun::BackendRun(const std::filesystem::path& path, const TestDataset& dataset, bool resume)
    : path_(path),
      dataset_(dataset),
      log_file_(File::open(beside(path, ".journal"), resume ? File::Mode::read_write : File::Mode::create)),
      backend_(create_hdf5_backend({.final_path = path,
                                    .partial = beside(path, ".partial"),
                                    .info = dataset.info,
                                    .options = {.format = Format::hdf5},
                                    .resume = resume})) {
  log_ = std::make_unique<RecordLog>(resume ? RecordLog::resume(log_file_, backend_->recover(log_file_))
                                            : RecordLog::start(log_file_, "test"));
}

void BackendRun::append_until(std::size_t end) {
  std::vector<std::string_view> fields;
  for (std::size_t i = log_->records(); i < end; ++i) {
    const Record record = view(dataset_.records[i], fields);
    LogRow row;
    row.meta = record.meta;
    row.key = record.key;
    row.fields = record.fields;
    backend_->put(i, record, row);
    log_->append(row);
  }
  backend_->flush();
  log_->flush();
}

void BackendRun::finish() {
  append_until(dataset_.records.size());
  backend_->finish(*log_, dataset_.info);
  for (const StoreBackend::Output& output : backend_->outputs()) {
    std::filesystem::rename(output.temporary, output.final_path);
  }
  std::filesystem::remove(beside(path_, ".journal"));
}

void write_hdf5(const std::filesystem::path& path, const TestDataset& dataset) {
  BackendRun(path, dataset).finish();
}

void check_same(const StoreReader& store, const TestDataset& dataset) {
  CHECK(store.info() == dataset.info);
  REQUIRE(store.size() == dataset.records.size());
  std::vector<std::string_view> fields;
  for (std::size_t i = 0; i < dataset.records.size(); ++i) {
    const Record expected = view(dataset.records[i], fields);
    CAPTURE(i);
    CHECK(store.key(i) == expected.key);
    CHECK(store.meta(i) == expected.meta);
    CHECK(std::ranges::equal(store.bytes(i).payload, expected.payload));
    CHECK(std::ranges::equal(store.bytes(i).segments, expected.segments));
    CHECK(store.find(expected.key) == i);
    for (std::size_t f = 0; f < fields.size(); ++f) CHECK(as_text(store.field(i, f)) == fields[f]);
  }
  CHECK(!store.find("no such key"));
}

}  // namespace imgpack::testing
