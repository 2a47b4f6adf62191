// Rounding to 16 bits, for every interval between neighbouring numbers.
#include "reader/augment/half.h"

#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

#include <doctest/doctest.h>

using namespace imgpack;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Numbers of both signs from 0 to just below infinity: each comes back, and what lies between it and the next one goes
/// to the nearer, from the middle to the even one. `limit` is what the number after the last finite one would be.
template <class To, class From>
void check_neighbours(To to, From from, std::uint16_t infinity, float limit) {
  for (std::uint32_t sign = 0; sign <= 0x8000; sign += 0x8000) {
    for (std::uint32_t magnitude = 0; magnitude < infinity; ++magnitude) {
      const auto bits = static_cast<std::uint16_t>(sign | magnitude);
      const auto next = static_cast<std::uint16_t>(bits + 1);
      const float value = from(bits);
      const float away = std::copysign(kInfinity, value);
      const double beyond = magnitude + 1 == infinity ? std::copysign(static_cast<double>(limit), value)
                                                      : static_cast<double>(from(next));
      const double exact_middle = (static_cast<double>(value) + beyond) / 2;
      const auto middle = static_cast<float>(exact_middle);
      REQUIRE(static_cast<double>(middle) == exact_middle);
      REQUIRE(to(value) == bits);
      REQUIRE(to(middle) == (bits % 2 == 0 ? bits : next));
      REQUIRE(to(std::nextafter(middle, 0.0F)) == bits);
      REQUIRE(to(std::nextafter(middle, away)) == next);
      REQUIRE(to(std::nextafter(value, away)) == bits);
    }
    REQUIRE(to(from(static_cast<std::uint16_t>(sign | infinity))) == (sign | infinity));
  }
}

}  // namespace

TEST_CASE("float16 rounds to nearest, halves to even") {
  check_neighbours(to_float16, from_float16, 0x7C00, 65536);
  CHECK(to_float16(1) == 0x3C00);
  CHECK(to_float16(-2) == 0xC000);
  CHECK(to_float16(65519) == 0x7BFF);
  CHECK(to_float16(65520) == 0x7C00);
  CHECK(to_float16(std::numeric_limits<float>::max()) == 0x7C00);
  CHECK(from_float16(1) == 0x1p-24F);
  CHECK(to_float16(std::numeric_limits<float>::denorm_min()) == 0);
  CHECK(std::isnan(from_float16(to_float16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST_CASE("bfloat16 rounds to nearest, halves to even") {
  // The last interval ends where float32 does, too: its middle is a float, its end is not.
  for (std::uint32_t sign = 0; sign <= 0x8000; sign += 0x8000) {
    for (std::uint32_t magnitude = 0; magnitude < 0x7F80; ++magnitude) {
      const std::uint32_t bits = sign | magnitude;
      const std::uint32_t even = bits + bits % 2;
      for (const auto& [rest, expected] : {std::pair<std::uint32_t, std::uint32_t>{0, bits},
                                           {1, bits},
                                           {0x7FFF, bits},
                                           {0x8000, even},
                                           {0x8001, bits + 1},
                                           {0xFFFF, bits + 1}}) {
        REQUIRE(to_bfloat16(std::bit_cast<float>(bits << 16 | rest)) == expected);
      }
      REQUIRE(std::bit_cast<std::uint32_t>(from_bfloat16(static_cast<std::uint16_t>(bits))) == bits << 16);
    }
  }
  CHECK(to_bfloat16(1) == 0x3F80);
  CHECK(to_bfloat16(kInfinity) == 0x7F80);
  CHECK(std::isnan(from_bfloat16(to_bfloat16(std::bit_cast<float>(0x7F800001U)))));
}
