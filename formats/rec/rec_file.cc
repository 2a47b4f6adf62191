#include "formats/rec/rec_file.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "formats/byte_reader.h"
#include "formats/checksum.h"
#include "formats/dataset_json.h"
#include "imgpack/error.h"
#include "mmap/paths.h"

namespace imgpack::rec {

namespace {

constexpr std::uint32_t kMaxSections = 4096;

[[noreturn]] void fail(const MappedFile& file, ErrorCode code, std::uint64_t offset, std::string message) {
  throw Error(code, std::move(message), in_file(file.path(), offset));
}

bool fits(std::uint64_t offset, std::uint64_t length, std::uint64_t size) {
  return offset <= size && length <= size - offset;
}

/// The version and features come before the checksum: a newer file may have a header that only its version can check.
void require_version(const MappedFile& file, std::uint16_t major, std::uint64_t required_features) {
  if (major != kMajorVersion) {
    fail(file, ErrorCode::unsupported, 8,
         fmt::format("rec version {} is not supported (this is version {})", major, kMajorVersion));
  }
  if ((required_features & ~kFeatureExternalData) != 0) {
    fail(file, ErrorCode::unsupported, 16,
         fmt::format("it needs features that this version does not have (bits {:#x})", required_features));
  }
}

Header read_header(const MappedFile& file) {
  const std::span<const std::byte> bytes = file.bytes();
  if (!has_magic(bytes)) fail(file, ErrorCode::damaged, 0, "this is not a rec file");
  if (bytes.size() < kHeaderBytes) fail(file, ErrorCode::damaged, bytes.size(), "the file ends inside its header");
  const std::span<const std::byte> head = bytes.first(kHeaderBytes);
  const bool intact =
      checksum_of(head.first(kHeaderBytes - 8)) == load_le<std::uint64_t>(head.data() + kHeaderBytes - 8);
  ByteReader in(head.subspan(kMagic.size()));
  const auto major = in.read<std::uint16_t>();
  in.read<std::uint16_t>();  // minor: newer minor versions add only what may be ignored
  const auto header_bytes = in.read<std::uint32_t>();
  Header header;
  header.required_features = in.read<std::uint64_t>();
  if (intact) require_version(file, major, header.required_features);
  if (!intact || header_bytes != kHeaderBytes)
    fail(file, ErrorCode::damaged, 0, "the header is damaged (checksum mismatch)");
  header.optional_features = in.read<std::uint64_t>();
  header.file_size = in.read<std::uint64_t>();
  header.records = in.read<std::uint64_t>();
  header.data_offset = in.read<std::uint64_t>();
  header.data_size = in.read<std::uint64_t>();
  header.alignment = in.read<std::uint32_t>();
  header.sections = in.read<std::uint32_t>();
  header.section_table_offset = in.read<std::uint64_t>();
  header.section_table_checksum = in.read<std::uint64_t>();
  header.external_data_size = in.read<std::uint64_t>();
  header.external_data_identity = in.read<std::uint64_t>();
  return header;
}

void check_header(const MappedFile& file, const Header& header) {
  if (header.file_size != file.size()) {
    fail(file, ErrorCode::damaged, std::min(header.file_size, file.size()),
         fmt::format("the file has {} bytes, but its header says {}", file.size(), header.file_size));
  }
  const bool sane = fits(header.data_offset, header.data_size, file.size()) && std::has_single_bit(header.alignment) &&
                    header.sections <= kMaxSections && header.section_table_offset % kSectionAlignment == 0 &&
                    fits(header.section_table_offset, header.sections * kSectionEntryBytes, file.size());
  if (!sane) fail(file, ErrorCode::damaged, 0, "the header contradicts itself");
}

std::vector<Section> read_sections(const MappedFile& file, const Header& header) {
  const std::span<const std::byte> table =
      file.bytes().subspan(static_cast<std::size_t>(header.section_table_offset), header.sections * kSectionEntryBytes);
  if (checksum_of(table) != header.section_table_checksum) {
    fail(file, ErrorCode::damaged, header.section_table_offset, "the section table is damaged (checksum mismatch)");
  }
  ByteReader in(table);
  std::vector<Section> sections(header.sections);
  for (Section& section : sections) {
    section.type = in.read<std::uint32_t>();
    section.width = in.read<std::uint32_t>();
    section.offset = in.read<std::uint64_t>();
    section.length = in.read<std::uint64_t>();
    section.block_table_offset = in.read<std::uint64_t>();
    section.checksum = in.read<std::uint64_t>();
    in.read<std::uint64_t>();
    if (section.width == 0 || !fits(section.offset, section.length, file.size()) ||
        !fits(section.block_table_offset, section.blocks() * 8, file.size())) {
      fail(file, ErrorCode::damaged, header.section_table_offset,
           fmt::format("section {} lies outside the file", section.type));
    }
  }
  return sections;
}

const Section* find_section(const Directory& directory, std::uint32_t type) {
  const auto found = std::find_if(directory.sections.begin(), directory.sections.end(),
                                  [type](const Section& section) { return section.type == type; });
  return found == directory.sections.end() ? nullptr : &*found;
}

std::span<const std::byte> bytes_of(const MappedFile& file, const Section& section) {
  return file.bytes().subspan(static_cast<std::size_t>(section.offset), static_cast<std::size_t>(section.length));
}

std::string section_name(std::uint32_t type) {
  return type == kDatasetSection ? "the dataset description" : fmt::format("index column {}", type);
}

/// Reports damaged blocks of one section; returns whether all are good.
bool check_section(const MappedFile& file, const Section& section, std::uint64_t records, DamageSink& sink) {
  const auto report = [&](std::uint64_t offset, std::string what) {
    sink.report({.file = file.path().string(), .record = std::nullopt, .offset = offset, .what = std::move(what)});
    return false;
  };
  const std::span<const std::byte> table = file.bytes().subspan(static_cast<std::size_t>(section.block_table_offset),
                                                                static_cast<std::size_t>(section.blocks() * 8));
  if (checksum_of(table) != section.checksum) {
    return report(section.block_table_offset,
                  fmt::format("the checksums of {} are damaged", section_name(section.type)));
  }
  bool good = true;
  ReleaseBehind behind(file);
  const std::span<const std::byte> bytes = bytes_of(file, section);
  for (std::uint64_t block = 0; block < section.blocks(); ++block) {
    const std::uint64_t begin = block * kBlockBytes;
    const std::uint64_t size = std::min(kBlockBytes, section.length - begin);
    const std::uint64_t found =
        checksum_of(bytes.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(size)));
    if (found != load_le<std::uint64_t>(table.data() + block * 8)) {
      std::string where;
      if (section.type != kDatasetSection && section.length / section.width >= records && section.width > 1) {
        where = fmt::format(" (elements {} to {})", begin / section.width, (begin + size - 1) / section.width);
      }
      good = report(section.offset + begin,
                    fmt::format("{} is damaged{} (checksum mismatch)", section_name(section.type), where));
    }
    behind.advance(section.offset + begin);
  }
  return good;
}

}  // namespace

bool has_magic(std::span<const std::byte> head) noexcept {
  return head.size() >= kMagic.size() && std::memcmp(head.data(), kMagic.data(), kMagic.size()) == 0;
}

Directory read_directory(const MappedFile& file) {
  Directory directory;
  directory.header = read_header(file);
  check_header(file, directory.header);
  directory.sections = read_sections(file, directory.header);
  const Section* description = find_section(directory, kDatasetSection);
  if (description == nullptr) fail(file, ErrorCode::damaged, 0, "the dataset description is missing");

  class FirstDamage final : public DamageSink {
   public:
    bool report(Damage damage) override {
      if (what.empty()) what = damage.what;
      return false;
    }
    std::string what;
  } damage;
  if (!check_section(file, *description, 0, damage)) fail(file, ErrorCode::damaged, description->offset, damage.what);
  const std::span<const std::byte> json = bytes_of(file, *description);
  directory.info = dataset_info_from_json({reinterpret_cast<const char*>(json.data()), json.size()}, file.path());
  if (directory.info.records != directory.header.records) {
    fail(file, ErrorCode::damaged, 40, "header and dataset description disagree about the number of records");
  }
  return directory;
}

ColumnTable open_columns(const MappedFile& file, const Directory& directory) {
  const ColumnTable::Layout layout{.records = directory.header.records,
                                   .fields = directory.info.fields,
                                   .file = file.path(),
                                   .payload_base = directory.header.data_offset};
  return ColumnTable::create(layout, [&](Column column) {
    const Section* section = find_section(directory, static_cast<std::uint32_t>(column));
    return section == nullptr ? ColumnView{} : ColumnView{.bytes = bytes_of(file, *section), .width = section->width};
  });
}

void check_sections(const MappedFile& file, const Directory& directory, DamageSink& sink) {
  const Header& header = directory.header;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> used = {{0, kHeaderBytes}};
  if (header.data_size != 0) used.emplace_back(header.data_offset, header.data_offset + header.data_size);
  for (const Section& section : directory.sections) {
    check_section(file, section, header.records, sink);
    used.emplace_back(section.offset, section.offset + section.length);
    used.emplace_back(section.block_table_offset, section.block_table_offset + section.blocks() * 8);
  }
  used.emplace_back(header.section_table_offset, header.section_table_offset + header.sections * kSectionEntryBytes);
  used.emplace_back(file.size(), file.size());
  std::sort(used.begin(), used.end());

  std::uint64_t end = 0;
  for (const auto& [begin, next_end] : used) {
    for (std::uint64_t offset = end; offset < begin; ++offset) {
      if (file.bytes()[static_cast<std::size_t>(offset)] == std::byte{0}) continue;
      sink.report({.file = file.path().string(),
                   .record = std::nullopt,
                   .offset = offset,
                   .what = "a byte between two parts of the file is not zero"});
      break;
    }
    end = std::max(end, next_end);
  }
}

}  // namespace imgpack::rec
