#include "tools/field_json.h"

#include <bit>
#include <cmath>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "formats/text.h"
#include "mmap/little_endian.h"

namespace imgpack::tools {

namespace {

Json bytes_json(std::span<const std::byte> value) {
  const std::string_view text(reinterpret_cast<const char*>(value.data()), value.size());
  if (is_utf8(text)) return std::string(text);
  std::string hex;
  for (const std::byte byte : value) hex += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return {{"hex", hex}};
}

Json element_json(FieldType type, std::span<const std::byte> element) {
  if (type == FieldType::int64) return load_le<std::int64_t>(element.data());
  const auto number = std::bit_cast<float>(load_le<std::uint32_t>(element.data()));
  return std::isfinite(number) ? Json(number) : Json(nullptr);
}

}  // namespace

Json field_value_json(const FieldSpec& spec, std::span<const std::byte> value) {
  if (spec.type == FieldType::bytes) return bytes_json(value);
  const std::size_t width = spec.type == FieldType::int64 ? 8 : 4;
  if (spec.shape.empty()) return value.size() == width ? element_json(spec.type, value) : Json(nullptr);
  Json json = Json::array();
  for (std::size_t at = 0; at + width <= value.size(); at += width) {
    json.push_back(element_json(spec.type, value.subspan(at, width)));
  }
  return json;
}

}  // namespace imgpack::tools
