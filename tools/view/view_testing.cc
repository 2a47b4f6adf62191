#include "tools/view/view_testing.h"

#include "codec/image_header.h"
#include "codec/jpeg/index_builder.h"
#include "mmap/byte_buffer.h"
#include "tests/support/files.h"

namespace imgpack::testing {

void write_view_records(const std::filesystem::path& path, const std::vector<ViewRecord>& records,
                        const std::vector<std::string>& splits) {
  DatasetInfo info;
  for (const char* name : {"cat", "dog", "ant"}) info.classes.push_back({.name = name, .words = ""});
  for (const std::string& name : splits) info.splits.push_back({.name = name, .begin = 0, .end = 0});
  const auto writer = StoreWriter::create(path, info, {.expected_records = records.size()});
  jpeg::IndexBuilder builder;
  ByteBuffer index;
  for (const ViewRecord& item : records) {
    const ImageHeader header = read_image_header(item.payload).header;
    Record record;
    record.key = item.key;
    record.split = item.split;
    record.meta.label = item.label;
    record.meta.codec = header.codec;
    record.meta.width = header.width;
    record.meta.height = header.height;
    record.meta.channels = header.channels;
    record.payload = item.payload;
    if (item.index && header.codec == Codec::jpeg) {
      builder.build(item.payload, {}, index);
      record.segments = index.bytes();
    }
    record.describe();
    writer->append(record);
  }
  writer->finish();
}

void damage_record(const std::filesystem::path& path, std::uint64_t record) {
  std::size_t at = 0;
  {
    const auto store = open_store(path);
    const PayloadPlace place = store->place(record);
    at = place.offset + place.size / 2;
  }
  std::vector<std::byte> bytes = read_file(path);
  bytes[at] ^= std::byte{0xff};
  write_file(path, bytes);
}

}  // namespace imgpack::testing
