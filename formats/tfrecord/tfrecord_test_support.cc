#include "formats/tfrecord/tfrecord_test_support.h"

#include <algorithm>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "formats/tfrecord/crc32c.h"
#include "formats/tfrecord/frame.h"
#include "formats/tfrecord/tfrecord_format.h"
#include "imgpack/error.h"
#include "mmap/little_endian.h"
#include "tests/support/files.h"
#include "tests/support/images.h"

namespace imgpack::testing {
namespace {

namespace fs = std::filesystem;

template <typename Number>
std::string packed(std::initializer_list<Number> values) {
  return std::string(reinterpret_cast<const char*>(std::data(values)), values.size() * sizeof(Number));
}

TestRecord make_record(std::size_t number) {
  const auto seed = static_cast<std::uint32_t>(number);
  const bool png = number % 3 == 2;
  TestRecord record;
  record.key = fmt::format("train/class{}/image {}.{}", number % 3, number, png ? "png" : "JPEG");
  record.meta = {.label = static_cast<std::int64_t>(number % 3), .width = 6, .height = 5, .channels = 3};
  record.meta.codec = png ? Codec::png : Codec::jpeg;
  record.payload = png ? make_png(6, 5, seed) : make_jpeg(6, 5, seed);
  if (number % 3 == 1) record.segments.assign(20 + number, static_cast<std::byte>(number));
  return record;
}

}  // namespace

Record view_of(const TestRecord& record, std::vector<std::string_view>& fields) {
  fields.assign(record.fields.begin(), record.fields.end());
  Record view;
  view.key = record.key;
  view.meta = record.meta;
  view.split = record.split;
  view.payload = record.payload;
  view.segments = record.segments;
  view.fields = fields;
  view.describe();
  return view;
}

TestDataset make_plain_dataset(std::size_t records) {
  TestDataset dataset;
  dataset.info.classes = {{"class0", "first, the"}, {"class1", ""}, {"class2", "third"}};
  dataset.info.transform = {{"encode", "keep"}};
  dataset.info.source_kind = "class-folders";
  dataset.info.source_name = "images";
  dataset.info.tool_version = "0.0-test";
  for (std::size_t i = 0; i < records; ++i) dataset.records.push_back(make_record(i));
  return dataset;
}

TestDataset make_dataset(std::size_t records) {
  TestDataset dataset = make_plain_dataset(records);
  dataset.info.splits = {{"train", 0, 0}, {"val", 0, 0}};
  dataset.info.fields = {{"id", FieldType::int64, {}}, {"box", FieldType::float32, {2, 2}}, {"note", FieldType::bytes, {}}};
  for (std::size_t i = 0; i < records; ++i) {
    TestRecord& record = dataset.records[i];
    record.split = i < records / 2 ? 0 : 1;
    const auto number = static_cast<float>(i);
    record.fields = {packed<std::int64_t>({-7 * static_cast<std::int64_t>(i)}),
                     packed<float>({number, -0.0f, 1e30f, number / 3}), std::string(i, '\xff')};
  }
  return dataset;
}

void append_records(StoreWriter& writer, const TestDataset& dataset, std::size_t begin, std::size_t end) {
  std::vector<std::string_view> fields;
  for (std::size_t i = begin; i < end; ++i) writer.append(view_of(dataset.records[i], fields));
}

StoreOptions tfrecord_options() {
  StoreOptions options;
  options.format = Format::tfrecord;
  return options;
}

void write_dataset(const fs::path& path, const TestDataset& dataset) {
  const auto writer = StoreWriter::create(path, dataset.info, tfrecord_options());
  append_records(*writer, dataset, 0, dataset.records.size());
  writer->finish();
}

void check_holds(const StoreReader& store, const TestDataset& dataset) {
  REQUIRE(store.size() == dataset.records.size());
  CHECK(store.format() == Format::tfrecord);
  for (std::size_t i = 0; i < dataset.records.size(); ++i) {
    CAPTURE(i);
    const TestRecord& record = dataset.records[i];
    std::vector<std::string_view> fields;
    const Record view = view_of(record, fields);
    CHECK(store.key(i) == record.key);
    CHECK(store.meta(i) == view.meta);
    const RecordBytes bytes = store.bytes(i);
    CHECK(std::ranges::equal(bytes.payload, record.payload));
    CHECK(std::ranges::equal(bytes.segments, record.segments));
    for (std::size_t f = 0; f < fields.size(); ++f) CHECK(as_text(store.field(i, f)) == fields[f]);
    CHECK(store.find(record.key) == i);
  }
  CHECK(!store.find("no such key"));
}

bool DamageList::report(Damage damage) {
  const std::lock_guard lock(mutex_);
  found_.push_back(std::move(damage));
  return true;
}

std::vector<Damage> DamageList::found() const {
  const std::lock_guard lock(mutex_);
  return found_;
}

bool DamageList::names_record(std::uint64_t record) const {
  return std::ranges::any_of(found(), [record](const Damage& damage) { return damage.record == record; });
}

void inspect(const fs::path& path, DamageList& found) {
  const auto note = [&](const Error& error, std::optional<std::uint64_t> record) {
    REQUIRE((error.code() == ErrorCode::damaged || error.code() == ErrorCode::unsupported));
    found.report({error.place().file, error.place().record ? error.place().record : record, error.place().offset,
                  error.message()});
  };
  std::unique_ptr<StoreReader> store;
  try {
    store = open_tfrecord(path);
    store->check_container(found);
  } catch (const Error& error) {
    return note(error, std::nullopt);
  }
  for (std::uint64_t record = 0; record < store->size(); ++record) {
    try {
      const RecordMeta meta = store->meta(record);
      const RecordBytes bytes = store->bytes(record);
      if (record_checksum(bytes.payload, bytes.segments) != meta.checksum)
        found.report({path.string(), record, std::nullopt, "checksum"});
      for (std::size_t f = 0; f < store->info().fields.size(); ++f) store->field(record, f);
      if (store->find(store->key(record)) != record) found.report({path.string(), record, std::nullopt, "find"});
    } catch (const Error& error) {
      note(error, record);
    }
  }
}

void make_older(const fs::path& path) {
  fs::last_write_time(path, fs::last_write_time(path) - std::chrono::hours(1));
}

void set_bytes(tfrecord::Example& example, const std::string& name, const std::string& value) {
  tfrecord::NamedFeature& feature = *example.mutable_features()->add_feature();
  feature.set_key(name);
  feature.mutable_value()->mutable_bytes_list()->add_value(value);
}

void set_int(tfrecord::Example& example, const std::string& name, std::int64_t value) {
  tfrecord::NamedFeature& feature = *example.mutable_features()->add_feature();
  feature.set_key(name);
  feature.mutable_value()->mutable_int64_list()->add_value(value);
}

std::string frame_of(const std::string& data) {
  std::string frame(as_text(make_frame_header(data.size())));
  frame += data;
  frame += as_text(make_frame_trailer(crc32c(0, as_bytes(data))));
  return frame;
}

std::string frame_of(const tfrecord::Example& example) { return frame_of(example.SerializeAsString()); }

}  // namespace imgpack::testing
