// Names and types of what an imgpack HDF5 file holds: the vocabulary that writer and reader share. See README.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/columns.h"
#include "formats/hdf5/library.h"
#include "imgpack/record.h"

namespace imgpack::hdf5 {

inline constexpr std::uint32_t kFormatVersion = 1;

inline constexpr const char* kInfo = "imgpack";
inline constexpr const char* kEncoded = "encoded";
inline constexpr const char* kImages = "images";
inline constexpr const char* kClasses = "classes";
inline constexpr const char* kFields = "fields";
inline constexpr const char* kFieldOffsets = "field_offsets";

inline constexpr const char* kVersionAttribute = "format_version";
inline constexpr const char* kDigestAttribute = "xxh3_64";

/// What a file starts with.
inline constexpr std::string_view kSignature("\x89HDF\r\n\x1a\n", 8);
inline constexpr std::size_t kSuperblockSize = 48;

/// Longest name in `classes`; longer ones are cut there (whole in the dataset's metadata).
inline constexpr std::size_t kMaxClassName = 1024;
/// Longest link name for a field, after escaping.
inline constexpr std::size_t kMaxFieldName = 1000;
/// libhdf5's limit for dimensions, less the one for records.
inline constexpr std::size_t kMaxFieldRank = 31;

/// Last dimension of `images`: R, G, B.
inline constexpr std::uint64_t kColours = 3;

/// One dataset and the column that it holds.
struct DatasetSpec {
  Column column = Column::label;
  std::string path;                    ///< from the root group
  hid_t type = H5I_INVALID_HID;        ///< in the file; owned by libhdf5
  std::vector<std::uint64_t> element;  ///< dimensions behind the first one
};

/// What the dataset for `column` is called and made of. REQUIRES: a Session; a column that this format uses.
DatasetSpec dataset_spec(Column column, const std::vector<FieldSpec>& fields, std::uint64_t records);

/// All columns that a file may hold, apart from fields'.
std::span<const Column> plain_columns() noexcept;

/// Their names.
std::vector<std::string> plain_names();

/// A field's name as the name of a link: '/', '%', bytes below 32, and a leading '.' become %XX.
std::string link_name(std::string_view field_name);

/// Throws invalid_argument if a field has a name or shape that HDF5 cannot hold.
void check_fields(const std::vector<FieldSpec>& fields);

}  // namespace imgpack::hdf5
