#include "tools/field_json.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "mmap/little_endian.h"
#include "tests/support/files.h"

namespace imgpack::tools {

namespace {

std::vector<std::byte> floats(std::initializer_list<float> values) {
  std::vector<std::byte> out;
  for (const float value : values) append_le(out, std::bit_cast<std::uint32_t>(value));
  return out;
}

}  // namespace

TEST_CASE("numbers become numbers, shapes become arrays") {
  std::vector<std::byte> integers;
  append_le(integers, std::int64_t{-5});
  CHECK(field_value_json({.name = "a", .type = FieldType::int64, .shape = {}}, integers) == Json(-5));
  append_le(integers, std::numeric_limits<std::int64_t>::max());
  CHECK(field_value_json({.name = "a", .type = FieldType::int64, .shape = {2}}, integers).dump() ==
        "[-5,9223372036854775807]");
  CHECK(field_value_json({.name = "b", .type = FieldType::float32, .shape = {}}, floats({0.5f})) == Json(0.5));
}

TEST_CASE("floats that JSON cannot hold become null") {
  const Json json =
      field_value_json({.name = "b", .type = FieldType::float32, .shape = {3}},
                       floats({1.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}));
  CHECK(json.dump() == "[1.0,null,null]");
}

TEST_CASE("bytes become text if they are text, else hexadecimal digits") {
  const FieldSpec spec{.name = "c", .type = FieldType::bytes, .shape = {}};
  CHECK(field_value_json(spec, testing::as_bytes("t\xc3\xbc")).dump() == "\"t\xc3\xbc\"");
  CHECK(field_value_json(spec, testing::as_bytes("\xff\x01")).dump() == R"({"hex":"ff01"})");
  CHECK(field_value_json(spec, {}).dump() == "\"\"");
}

}  // namespace imgpack::tools
