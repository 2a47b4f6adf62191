// Writes the files that h5py_test.py reads, and beside them what their records are made of.
#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "formats/hdf5/hdf5_format.h"
#include "mmap/little_endian.h"
#include "tests/support/files.h"
#include "tests/support/images.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace {

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return as_text(bytes);
}

void write_sample(const std::filesystem::path& folder) {
  constexpr int kRecords = 7;
  DatasetInfo info;
  info.classes = {
      {.name = "n01440764", .words = "tench"}, {.name = "n01443537", .words = ""}, {.name = "Bärlapp", .words = ""}};
  info.fields = {{.name = "id", .type = FieldType::int64, .shape = {}},
                 {.name = "box", .type = FieldType::int64, .shape = {2, 2}},
                 {.name = "caption", .type = FieldType::bytes, .shape = {}}};
  info.source_kind = "class-folders";
  const auto writer = StoreWriter::create(folder / "sample.h5", info, {.format = Format::hdf5});
  for (int i = 0; i < kRecords; ++i) {
    const std::vector<std::byte> image = make_jpeg(40 + i, 30, static_cast<std::uint32_t>(i));
    const std::string key = fmt::format("{}/{}.JPEG", info.classes[static_cast<std::size_t>(i % 3)].name, i);
    write_file(folder / "images" / key, image);
    std::vector<std::byte> id;
    append_le(id, std::int64_t{i} * 1000);
    std::vector<std::byte> box;
    for (int corner = 0; corner < 4; ++corner) append_le(box, std::int64_t{10} * i + corner);
    const std::string caption = fmt::format("picture number {}", i);
    const std::string_view fields[] = {text_of(id), text_of(box), caption};
    Record record;
    record.key = key;
    record.meta.label = i % 3;
    record.meta.width = static_cast<std::uint32_t>(40 + i);
    record.meta.height = 30;
    record.meta.channels = 3;
    record.meta.codec = Codec::jpeg;
    record.payload = image;
    record.fields = fields;
    record.describe();
    writer->append(record);
  }
  writer->finish();
}

/// raw.h5, and pixels/N for record N; empty.h5, which has no records.
void write_raw_samples(const std::filesystem::path& folder) {
  constexpr RawShape kShape{.height = 20, .width = 30};
  DatasetInfo info;
  info.classes = {{.name = "a", .words = ""}, {.name = "b", .words = ""}};
  const StoreOptions options{.format = Format::hdf5, .raw_shape = kShape};
  StoreWriter::create(folder / "empty.h5", info, options)->finish();
  const auto writer = StoreWriter::create(folder / "raw.h5", info, options);
  for (std::size_t i = 0; i < 5; ++i) {
    std::vector<std::byte> pixels(kShape.bytes());
    for (std::size_t at = 0; at < pixels.size(); ++at) pixels[at] = static_cast<std::byte>(at * at / 7 + i * 31);
    const std::string key = fmt::format("{}", i);
    write_file(folder / "pixels" / key, pixels);
    Record record;
    record.key = key;
    record.meta.label = static_cast<std::int64_t>(i % 2);
    record.meta.width = kShape.width;
    record.meta.height = kShape.height;
    record.meta.channels = 3;
    record.meta.codec = Codec::raw_rgb8;
    record.payload = pixels;
    record.describe();
    writer->append(record);
  }
  writer->finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    write_sample(argv[1]);
    write_raw_samples(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
