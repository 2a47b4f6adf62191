// The rec container: header, section table and sections with their checksums. formats/FORMAT.md is normative; the names
// here are its names. What the sections mean is in formats/columns.h; where payloads go is in rec_backend.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/columns.h"
#include "formats/record_log.h"
#include "imgpack/store.h"
#include "mmap/file.h"
#include "mmap/mapped_file.h"

namespace imgpack::rec {

inline constexpr std::string_view kMagic = "\x89IPREC\r\n";
inline constexpr std::uint16_t kMajorVersion = 1;
inline constexpr std::uint16_t kMinorVersion = 0;
inline constexpr std::size_t kHeaderBytes = 128;
inline constexpr std::size_t kSectionEntryBytes = 48;
inline constexpr std::uint64_t kDataOffset = 4096;  ///< of the data region; zeros between header and data
inline constexpr std::uint64_t kSectionAlignment = 64;
inline constexpr std::uint64_t kBlockBytes = 64u << 10;  ///< sections are checksummed in blocks of this size
inline constexpr std::uint64_t kDataTail = 64;         ///< zeros behind the last record, so that wide loads stay inside
inline constexpr std::uint32_t kDatasetSection = 500;  ///< section type of the dataset description; columns have theirs
inline constexpr std::uint64_t kFeatureExternalData = 1;  ///< required feature: payloads lie in another file

struct Header {
  std::uint64_t required_features = 0;
  std::uint64_t optional_features = 0;
  std::uint64_t file_size = 0;
  std::uint64_t records = 0;
  std::uint64_t data_offset = 0;
  std::uint64_t data_size = 0;
  std::uint32_t alignment = 0;
  std::uint32_t sections = 0;
  std::uint64_t section_table_offset = 0;
  std::uint64_t section_table_checksum = 0;
  std::uint64_t external_data_size = 0;
  std::uint64_t external_data_identity = 0;
};

struct Section {
  std::uint32_t type = 0;
  std::uint32_t width = 0;  ///< bytes an element
  std::uint64_t offset = 0;
  std::uint64_t length = 0;              ///< bytes
  std::uint64_t block_table_offset = 0;  ///< XXH3-64 of each block, u64 each
  std::uint64_t checksum = 0;            ///< XXH3-64 of the block table

  std::uint64_t blocks() const noexcept { return length / kBlockBytes + (length % kBlockBytes != 0 ? 1 : 0); }
};

/// The header and directory of an opened file, all bounds checked. Views point into the mapping.
struct Directory {
  Header header;
  std::vector<Section> sections;
  DatasetInfo info;
};

/// Whether a file that begins with `head` is a rec file, whatever its version.
bool has_magic(std::span<const std::byte> head) noexcept;

/// Reads header, section table and dataset description. Throws damaged or unsupported (version, features).
Directory read_directory(const MappedFile& file);

/// The columns of `directory`, in `file`'s mapping.
ColumnTable open_columns(const MappedFile& file, const Directory& directory);

/// Checks everything of `file` but the data region: zeros where there must be zeros, every block of every section.
void check_sections(const MappedFile& file, const Directory& directory, DamageSink& sink);

struct IndexOptions {
  std::uint32_t alignment = 64;
  std::uint64_t data_offset = 0;
  std::uint64_t data_size = 0;
  /// Size of the file that holds the payloads, if it is not this one.
  std::optional<std::uint64_t> external_data_size;
  /// Whatever lets that file be recognised without reading it; its format says what.
  std::uint64_t external_data_identity = 0;
  ColumnOptions columns;
};

/// Writes sections, section table and, last, the header of a rec file whose data region is already in `file`.
void write_index(File& file, const RecordLog& log, const DatasetInfo& info, const IndexOptions& options);

}  // namespace imgpack::rec
