#include "formats/hdf5/layout.h"

#include <array>
#include <set>

#include <fmt/format.h>

#include "imgpack/error.h"

namespace imgpack::hdf5 {

namespace {

enum class Element : std::uint8_t { u8, u32, u64, i64 };

struct PlainColumn {
  Column column;
  const char* name;
  Element element;
};

constexpr std::array kPlain = {
    PlainColumn{Column::payload_bounds, "offsets", Element::u64},
    PlainColumn{Column::segment_bounds, "segment_offsets", Element::u64},
    PlainColumn{Column::segment_bytes, "segments", Element::u8},
    PlainColumn{Column::label, "labels", Element::i64},
    PlainColumn{Column::width, "widths", Element::u32},
    PlainColumn{Column::height, "heights", Element::u32},
    PlainColumn{Column::channels, "channels", Element::u8},
    PlainColumn{Column::codec, "codecs", Element::u8},
    PlainColumn{Column::checksum, "checksums", Element::u64},
    PlainColumn{Column::key_bounds, "key_offsets", Element::u64},
    PlainColumn{Column::key_bytes, "keys", Element::u8},
    PlainColumn{Column::key_order, "key_order", Element::u32},
};

constexpr auto kPlainColumns = [] {
  std::array<Column, kPlain.size()> columns{};
  for (std::size_t i = 0; i < kPlain.size(); ++i) columns[i] = kPlain[i].column;
  return columns;
}();

hid_t file_type(Element element) {
  switch (element) {
    case Element::u8:
      return H5T_STD_U8LE;
    case Element::u32:
      return H5T_STD_U32LE;
    case Element::u64:
      return H5T_STD_U64LE;
    case Element::i64:
      break;
  }
  return H5T_STD_I64LE;
}

hid_t file_type(FieldType type) {
  switch (type) {
    case FieldType::int64:
      return H5T_STD_I64LE;
    case FieldType::float32:
      return H5T_IEEE_F32LE;
    case FieldType::bytes:
      break;
  }
  return H5T_STD_U8LE;
}

bool is_plain(unsigned char byte, bool first) noexcept {
  return byte >= 32 && byte != '/' && byte != '%' && !(first && byte == '.');
}

}  // namespace

DatasetSpec dataset_spec(Column column, const std::vector<FieldSpec>& fields, std::uint64_t records) {
  for (const PlainColumn& plain : kPlain) {
    if (plain.column != column) continue;
    const bool wide = column == Column::key_order && key_order_width(records) == 8;
    return {
        .column = column, .path = plain.name, .type = file_type(wide ? Element::u64 : plain.element), .element = {}};
  }
  const auto number = static_cast<std::size_t>(column);
  const auto first_values = static_cast<std::size_t>(field_values_column(0));
  const auto first_bounds = static_cast<std::size_t>(field_bounds_column(0));
  if (number >= first_bounds && number - first_bounds < fields.size()) {
    return {.column = column,
            .path = fmt::format("{}/{}", kFieldOffsets, link_name(fields[number - first_bounds].name)),
            .type = file_type(Element::u64),
            .element = {}};
  }
  if (number >= first_values && number - first_values < fields.size()) {
    const FieldSpec& field = fields[number - first_values];
    return {.column = column,
            .path = fmt::format("{}/{}", kFields, link_name(field.name)),
            .type = file_type(field.type),
            .element = {field.shape.begin(), field.shape.end()}};
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("HDF5 files have no place for index column {}", static_cast<std::uint32_t>(column)));
}

std::span<const Column> plain_columns() noexcept {
  return kPlainColumns;
}

std::vector<std::string> plain_names() {
  std::vector<std::string> names;
  for (const PlainColumn& plain : kPlain) names.emplace_back(plain.name);
  return names;
}

std::string link_name(std::string_view field_name) {
  std::string name;
  for (const char character : field_name) {
    const auto byte = static_cast<unsigned char>(character);
    if (is_plain(byte, name.empty())) {
      name += character;
    } else {
      name += fmt::format("%{:02X}", byte);
    }
  }
  return name;
}

void check_fields(const std::vector<FieldSpec>& fields) {
  if (fields.size() > kMaxFields) throw Error(ErrorCode::invalid_argument, "there are too many fields");
  std::set<std::string_view> names;
  for (const FieldSpec& field : fields) {
    if (field.name.empty() || link_name(field.name).size() > kMaxFieldName) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("field names in HDF5 files have 1 to {} bytes", kMaxFieldName));
    }
    if (!names.insert(field.name).second) {
      throw Error(ErrorCode::invalid_argument, fmt::format("two fields are called '{}'", field.name));
    }
    if (field.shape.size() > kMaxFieldRank) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("field '{}' has more than the {} dimensions that HDF5 can hold", field.name, kMaxFieldRank));
    }
    if (field.type != FieldType::bytes && (field.value_size() == 0 || field.value_size() > kMaxFieldBytes)) {
      throw Error(ErrorCode::invalid_argument, fmt::format("field '{}' has a shape that cannot be stored", field.name));
    }
  }
}

}  // namespace imgpack::hdf5
