#include "formats/lmdb/sample_data.h"

#include <array>
#include <bit>
#include <initializer_list>

#include "tests/support/files.h"
#include "tests/support/images.h"

namespace imgpack::testing {

namespace {

template <typename T>
std::string packed(std::initializer_list<T> values) {
  std::string out;
  for (const T value : values) {
    const auto bits = std::bit_cast<std::array<char, sizeof(T)>>(value);
    out.append(bits.begin(), bits.end());
  }
  return out;
}

std::vector<std::string> field_values(std::uint32_t i) {
  return {packed<std::int64_t>({std::int64_t{-5} * i}), packed<float>({0.5F * static_cast<float>(i), -1.25F}),
          i % 3 == 0 ? std::string() : "note " + std::to_string(i) + std::string(1, '\0')};
}

}  // namespace

std::vector<std::byte> noise(std::size_t size, std::uint32_t seed) {
  std::vector<std::byte> bytes(size);
  std::uint32_t state = seed * 2654435761u + 1;
  for (std::byte& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

void describe(SampleRecord& record) {
  record.meta.payload_size = record.payload.size();
  record.meta.segments_size = record.segments.size();
  record.meta.checksum = record_checksum(record.payload, record.segments);
}

Sample rich_sample(bool small) {
  Sample sample;
  sample.info.classes = {{.name = "n01", .words = "first"}, {.name = "n02", .words = ""}};
  sample.info.splits = {{.name = "train", .begin = 0, .end = 0}, {.name = "val", .begin = 0, .end = 0}};
  sample.info.fields = {{.name = "weight", .type = FieldType::int64, .shape = {}},
                        {.name = "box", .type = FieldType::float32, .shape = {2}},
                        {.name = "note", .type = FieldType::bytes, .shape = {}}};
  sample.info.source_kind = "class-folders";
  sample.info.metadata = {{"origin", "tests"}};
  const std::vector<std::size_t> sizes = small ? std::vector<std::size_t>{0, 1, 700, 2500, 5000}
                                               : std::vector<std::size_t>{0, 1, 2037, 4080, 4081, 100000, 1500000};
  for (std::uint32_t i = 0; i < sizes.size() + 2; ++i) {
    SampleRecord record;
    record.key = "train/n0" + std::to_string(i % 2 + 1) + "/image " + std::to_string(i) + ".JPEG";
    record.meta = {
        .label = i == 0 ? kNoLabel : i % 2, .width = 32 + i, .height = 24, .channels = 3, .codec = Codec::jpeg};
    record.split = i < sizes.size() ? 0 : 1;
    record.payload = i < sizes.size() ? noise(sizes[i], i) : make_jpeg(32 + static_cast<int>(i), 24, i);
    if (i % 2 == 1) record.segments = noise(small ? 30 : 3000, 100 + i);
    record.fields = field_values(i);
    describe(record);
    sample.records.push_back(std::move(record));
  }
  sample.records[1].key = "";
  if (!small) sample.records[2].key = "../" + std::string(70000, 'k') + ".JPEG";
  return sample;
}

StoreOptions lmdb_options(bool resume) {
  StoreOptions options;
  options.format = Format::lmdb;
  options.resume = resume;
  options.fingerprint = "sample";
  return options;
}

std::unique_ptr<StoreWriter> create_writer(const std::filesystem::path& path, const Sample& sample, bool resume) {
  return StoreWriter::create(path, sample.info, lmdb_options(resume));
}

void append_until(StoreWriter& writer, const Sample& sample, std::uint64_t end) {
  for (std::uint64_t i = writer.records(); i < end; ++i) {
    const SampleRecord& owned = sample.records[i];
    const std::vector<std::string_view> fields(owned.fields.begin(), owned.fields.end());
    writer.append({.key = owned.key,
                   .meta = owned.meta,
                   .split = owned.split,
                   .payload = owned.payload,
                   .segments = owned.segments,
                   .fields = fields});
  }
}

void write_sample(const std::filesystem::path& path, const Sample& sample) {
  const std::unique_ptr<StoreWriter> writer = create_writer(path, sample);
  append_until(*writer, sample, sample.records.size());
  writer->finish();
}

}  // namespace imgpack::testing
