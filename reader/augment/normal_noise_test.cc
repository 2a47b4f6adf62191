// The series against the C library's functions, and that any block can be made alone.
#include "reader/augment/normal_noise.h"

#include <cmath>
#include <numbers>
#include <utility>

#include <doctest/doctest.h>

#include "reader/random/random_stream.h"

using namespace imgpack;

TEST_CASE("logarithms") {
  const auto agrees = [](double x) {
    const double expected = std::log(x);
    return std::abs(noise_math::log(x) - expected) <= std::abs(expected) * 0x1p-38;
  };
  for (int exponent = -33; exponent < 0; ++exponent) {
    for (int i = 0; i < 4096; ++i) REQUIRE(agrees(std::ldexp(1 + i / 4096.0, exponent)));
  }
  for (std::uint32_t i = 1; i < 4096; ++i) REQUIRE(agrees(1 - i * 0x1p-33));
  CHECK(noise_math::log(1) == 0);
}

TEST_CASE("sines and cosines") {
  for (std::uint64_t i = 0; i < std::uint64_t{1} << 32; i += 65521) {
    const auto turn = static_cast<std::uint32_t>(i);
    const double angle = turn * (0x1p-31 * std::numbers::pi);
    const auto [sine, cosine] = noise_math::sine_cosine(turn);
    REQUIRE(std::abs(sine - std::sin(angle)) < 0x1p-40);
    REQUIRE(std::abs(cosine - std::cos(angle)) < 0x1p-40);
  }
  for (std::uint32_t quarter = 0; quarter < 4; ++quarter) {
    const auto [sine, cosine] = noise_math::sine_cosine(quarter << 30);
    CHECK(sine == (quarter == 1 ? 1 : quarter == 3 ? -1 : 0));
    CHECK(cosine == (quarter == 0 ? 1 : quarter == 2 ? -1 : 0));
  }
}

TEST_CASE("noise by blocks is what Box and Muller say") {
  constexpr std::uint64_t kKey = 0x123456789ABCDEF0;
  constexpr std::uint64_t kRecord = 0xFFFFFFFF12;
  NormalNoise noise(kKey, kRecord, 3);
  RandomStream random(kKey, kRecord, 0x80000003);
  for (std::uint32_t number = 0; number < 20000; ++number) {
    const NormalBlock block = normal_block(kKey, kRecord, 3, number);
    for (int i = 0; i < 4; i += 2) {
      const double radius = std::sqrt(-2 * std::log(random.next_32() * 0x1p-32 + 0x1p-33));
      const double angle = random.next_32() * 0x1p-31 * std::numbers::pi;
      for (const auto& [got, exact] : {std::pair(block.values[i], radius * std::cos(angle)),
                                       std::pair(block.values[i + 1], radius * std::sin(angle))}) {
        REQUIRE(std::abs(static_cast<double>(got) - exact) <= std::abs(exact) * 0x1p-24 + 0x1p-38);
        REQUIRE(noise.next() == got);
      }
    }
  }
}
