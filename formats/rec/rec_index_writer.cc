#include <algorithm>

#include "formats/checksum.h"
#include "formats/dataset_json.h"
#include "formats/rec/rec_file.h"
#include "mmap/little_endian.h"

namespace imgpack::rec {

namespace {

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// One section being filled: writes its bytes, and keeps the checksum of each block.
class SectionWriter {
 public:
  SectionWriter(File& file, Section section) : file_(file), section_(section) {
    block_table_.reserve(static_cast<std::size_t>(section.blocks() * 8));
  }

  void write(std::span<const std::byte> bytes) {
    file_.write_at(section_.offset + written_, bytes);
    while (!bytes.empty()) {
      const auto room = static_cast<std::size_t>(kBlockBytes - written_ % kBlockBytes);
      const std::span<const std::byte> part = bytes.first(std::min(room, bytes.size()));
      block_.update(part);
      written_ += part.size();
      bytes = bytes.subspan(part.size());
      if (written_ % kBlockBytes == 0) end_block();
    }
  }

  Section finish() {
    if (written_ % kBlockBytes != 0) end_block();
    file_.write_at(section_.block_table_offset, block_table_);
    section_.checksum = checksum_of(block_table_);
    return section_;
  }

 private:
  void end_block() {
    append_le(block_table_, block_.value());
    block_ = Checksummer();
  }

  File& file_;
  Section section_;
  std::uint64_t written_ = 0;
  Checksummer block_;
  std::vector<std::byte> block_table_;
};

class SectionSink final : public ColumnSink {
 public:
  SectionSink(File& file, std::uint64_t begin) : file_(file), end_(begin) {}

  void begin(std::span<const Spec> columns) override {
    for (const Spec& spec : columns) add(static_cast<std::uint32_t>(spec.column), spec.width, spec.count * spec.width);
  }
  void write(std::size_t index, std::span<const std::byte> bytes) override { writers_[index].write(bytes); }

  void add_whole(std::uint32_t type, std::span<const std::byte> bytes) {
    add(type, 1, bytes.size());
    writers_.back().write(bytes);
  }

  std::vector<Section> finish() {
    std::vector<Section> sections;
    for (SectionWriter& writer : writers_) sections.push_back(writer.finish());
    return sections;
  }
  std::uint64_t end() const noexcept { return end_; }

 private:
  void add(std::uint32_t type, std::uint32_t width, std::uint64_t length) {
    Section section{.type = type, .width = width, .offset = align_up(end_, kSectionAlignment), .length = length};
    section.block_table_offset = align_up(section.offset + length, 8);
    end_ = section.block_table_offset + section.blocks() * 8;
    writers_.emplace_back(file_, section);
  }

  File& file_;
  std::uint64_t end_;
  std::vector<SectionWriter> writers_;
};

std::vector<std::byte> encode(const Section& section) {
  std::vector<std::byte> out;
  append_le(out, section.type);
  append_le(out, section.width);
  append_le(out, section.offset);
  append_le(out, section.length);
  append_le(out, section.block_table_offset);
  append_le(out, section.checksum);
  append_le(out, std::uint64_t{0});
  return out;
}

std::vector<std::byte> encode(const Header& header) {
  std::vector<std::byte> out;
  for (const char c : kMagic) out.push_back(static_cast<std::byte>(c));
  append_le(out, kMajorVersion);
  append_le(out, kMinorVersion);
  append_le(out, static_cast<std::uint32_t>(kHeaderBytes));
  append_le(out, header.required_features);
  append_le(out, header.optional_features);
  append_le(out, header.file_size);
  append_le(out, header.records);
  append_le(out, header.data_offset);
  append_le(out, header.data_size);
  append_le(out, header.alignment);
  append_le(out, header.sections);
  append_le(out, header.section_table_offset);
  append_le(out, header.section_table_checksum);
  append_le(out, header.external_data_size);
  append_le(out, header.external_data_identity);
  out.resize(kHeaderBytes - 8);
  append_le(out, checksum_of(out));
  return out;
}

}  // namespace

void write_index(File& file, const RecordLog& log, const DatasetInfo& info, const IndexOptions& options) {
  const std::uint64_t data_end = options.data_offset + options.data_size;
  SectionSink sink(file, std::max<std::uint64_t>(data_end, kHeaderBytes));
  write_columns(log, info, options.columns, sink);
  const std::string json = dataset_info_to_json(info);
  sink.add_whole(kDatasetSection, std::as_bytes(std::span(json.data(), json.size())));

  std::vector<std::byte> table;
  const std::vector<Section> sections = sink.finish();
  for (const Section& section : sections) {
    const std::vector<std::byte> entry = encode(section);
    table.insert(table.end(), entry.begin(), entry.end());
  }

  Header header;
  header.required_features = options.external_data_size ? kFeatureExternalData : 0;
  header.records = log.records();
  header.data_offset = options.data_offset;
  header.data_size = options.data_size;
  header.alignment = options.alignment;
  header.sections = static_cast<std::uint32_t>(sections.size());
  header.section_table_offset = align_up(sink.end(), kSectionAlignment);
  header.section_table_checksum = checksum_of(table);
  header.external_data_size = options.external_data_size.value_or(0);
  header.external_data_identity = options.external_data_identity;
  header.file_size = header.section_table_offset + table.size();
  file.write_at(header.section_table_offset, table);
  file.truncate(header.file_size);
  file.write_at(0, encode(header));
}

}  // namespace imgpack::rec
