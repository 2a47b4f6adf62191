#include "formats/tfrecord/tfrecord_test_support.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "formats/tfrecord/crc32c.h"
#include "formats/tfrecord/frame.h"
#include "mmap/file.h"
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
  dataset.info.fields = {
      {"id", FieldType::int64, {}}, {"box", FieldType::float32, {2, 2}}, {"note", FieldType::bytes, {}}};
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

void overwrite_file(const fs::path& path, std::span<const std::byte> bytes) {
  File file = File::open(path, File::Mode::open_or_create);
  file.write_at(0, bytes);
  if (file.size() != bytes.size()) file.truncate(bytes.size());
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

std::string frame_of(const tfrecord::Example& example) {
  return frame_of(example.SerializeAsString());
}

}  // namespace imgpack::testing
