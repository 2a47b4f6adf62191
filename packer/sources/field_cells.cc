#include "packer/sources/field_cells.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>

#include <fmt/format.h>

#include "imgpack/error.h"
#include "mmap/little_endian.h"
#include "packer/sources/text.h"

namespace imgpack {

namespace {

[[noreturn]] void refuse(std::string reason) {
  throw Error(ErrorCode::refused, std::move(reason));
}

/// "[4]" or "[2x3]", brackets included.
std::vector<std::uint32_t> parse_shape(std::string_view text, std::string_view cell) {
  const auto bad = [cell] { refuse(fmt::format("'{}' has a shape that is not like [4] or [2x3]", printable(cell))); };
  if (text.size() < 3 || text.back() != ']') bad();
  text = text.substr(1, text.size() - 2);
  std::vector<std::uint32_t> shape;
  std::uint64_t elements = 1;
  for (;;) {
    const std::string_view part = text.substr(0, text.find('x'));
    std::uint32_t dimension = 0;
    const auto [end, failed] = std::from_chars(part.data(), part.data() + part.size(), dimension);
    if (failed != std::errc() || end != part.data() + part.size() || dimension == 0) bad();
    elements *= dimension;
    if (elements > kMaxFieldElements || shape.size() == 8) {
      refuse(fmt::format("'{}' has more than {} elements or 8 dimensions", printable(cell), kMaxFieldElements));
    }
    shape.push_back(dimension);
    if (part.size() == text.size()) return shape;
    text.remove_prefix(part.size() + 1);
  }
}

template <typename T>
void append_value(std::string& out, T value) {
  std::array<std::byte, sizeof(T)> bytes;
  store_le(bytes.data(), value);
  out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

bool append_element(FieldType type, std::string_view text, std::string& value) {
  if (type == FieldType::int64) {
    const std::optional<std::int64_t> number = parse_int64(text);
    if (number) append_value(value, *number);
    return number.has_value();
  }
  const std::optional<float> number = parse_float32(text);
  if (number) append_value(value, std::bit_cast<std::uint32_t>(*number));
  return number.has_value();
}

}  // namespace

std::optional<std::int64_t> parse_int64(std::string_view cell) noexcept {
  std::int64_t value = 0;
  const auto [end, failed] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (failed != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
  return value;
}

std::optional<float> parse_float32(std::string_view cell) noexcept {
  double value = 0;
  const auto [end, failed] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (failed != std::errc() || end != cell.data() + cell.size()) return std::nullopt;
  if (std::isfinite(value) && std::abs(value) > static_cast<double>(std::numeric_limits<float>::max())) {
    return std::nullopt;
  }
  return static_cast<float>(value);
}

DeclaredField parse_field_declaration(std::string_view cell) {
  DeclaredField field;
  const std::size_t colon = cell.rfind(':');
  field.name = cell.substr(0, colon);
  if (field.name.empty()) refuse("a column without a name");
  if (!is_utf8(field.name)) refuse(fmt::format("the column name '{}' is not UTF-8", printable(field.name)));
  if (colon == std::string_view::npos) return field;
  const std::string_view declared = cell.substr(colon + 1);
  const std::size_t bracket = declared.find('[');
  const std::string_view type = declared.substr(0, bracket);
  for (const FieldType known : {FieldType::int64, FieldType::float32, FieldType::bytes}) {
    if (type == to_string(known)) field.type = known;
  }
  if (!field.type) {
    refuse(fmt::format("'{}' has an unknown type; known are int64, float32 and bytes", printable(cell)));
  }
  if (bracket != std::string_view::npos) {
    if (field.type == FieldType::bytes) refuse(fmt::format("'{}': bytes have no shape", printable(cell)));
    field.shape = parse_shape(declared.substr(bracket), cell);
  }
  return field;
}

void TypeGuess::see(std::string_view cell) noexcept {
  int64_ = int64_ && parse_int64(cell);
  float32_ = float32_ && (int64_ || parse_float32(cell));
}

FieldType TypeGuess::type() const noexcept {
  if (int64_) return FieldType::int64;
  return float32_ ? FieldType::float32 : FieldType::bytes;
}

bool encode_field(const FieldSpec& spec, std::string_view cell, std::string& value) {
  value.clear();
  if (spec.type == FieldType::bytes) {
    value = cell;
    return true;
  }
  if (spec.shape.empty()) return append_element(spec.type, cell, value);
  constexpr std::string_view kBetween = " ;";
  std::uint64_t elements = 0;
  for (;;) {
    cell.remove_prefix(std::min(cell.find_first_not_of(kBetween), cell.size()));
    if (cell.empty()) return elements == spec.elements();
    const std::string_view element = cell.substr(0, cell.find_first_of(kBetween));
    if (++elements > spec.elements() || !append_element(spec.type, element, value)) return false;
    cell.remove_prefix(element.size());
  }
}

std::string describe_type(const FieldSpec& spec) {
  std::string out(to_string(spec.type));
  for (std::size_t i = 0; i < spec.shape.size(); ++i) out += fmt::format("{}{}", i == 0 ? "[" : "x", spec.shape[i]);
  if (!spec.shape.empty()) out += ']';
  return out;
}

}  // namespace imgpack
