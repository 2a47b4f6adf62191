// Cells of a manifest as field values: types as they are declared in the header line, or inferred, and their encoding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "imgpack/record.h"

namespace imgpack {

/// The whole of `cell` as a decimal integer.
std::optional<std::int64_t> parse_int64(std::string_view cell) noexcept;
/// The whole of `cell` as a decimal number in float32's range, rounded to float32; also "nan" and "inf".
std::optional<float> parse_float32(std::string_view cell) noexcept;

/// From a header cell's "name:int64", "name:float32[4]", "name:int64[2x3]" or "name:bytes"; a name alone has no type.
/// Throws refused with the reason (an unknown type, a shape of more than kMaxFieldElements, a name that is empty or not
/// UTF-8).
struct DeclaredField {
  std::string name;
  std::optional<FieldType> type;
  std::vector<std::uint32_t> shape;
};
DeclaredField parse_field_declaration(std::string_view cell);
inline constexpr std::uint64_t kMaxFieldElements = 1u << 20;

/// The narrowest type that takes all cells shown to it: int64, else float32, else bytes.
class TypeGuess {
 public:
  void see(std::string_view cell) noexcept;
  FieldType type() const noexcept;

 private:
  bool int64_ = true;
  bool float32_ = true;
};

/// The value of a field of type `spec`, encoded as Record::fields, into `value`. Elements of a shape stand between
/// spaces or semicolons. Returns false if the cell does not fit the type or has another number of elements.
bool encode_field(const FieldSpec& spec, std::string_view cell, std::string& value);
/// "int64", "float32[4]", ...
std::string describe_type(const FieldSpec& spec);

}  // namespace imgpack
