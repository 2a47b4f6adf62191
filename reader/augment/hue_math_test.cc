// The arithmetic of hues against that of Pillow 9.4's Convert.c, written down here as it is there, for all arguments.
#include "reader/augment/hue_math.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "reader/augment/hue.h"

using namespace imgpack;

namespace {

struct Hsv {
  std::uint8_t h = 0;
  std::uint8_t s = 0;
  std::uint8_t v = 0;
};

/// rgb2hsv_row of one pixel that is not gray.
Hsv pillow_hsv(int r, int g, int b) {
  const int most = std::max(r, std::max(g, b));
  const int least = std::min(r, std::min(g, b));
  const auto cr = static_cast<float>(most - least);
  const float s = cr / static_cast<float>(most);
  const float rc = static_cast<float>(most - r) / cr;
  const float gc = static_cast<float>(most - g) / cr;
  const float bc = static_cast<float>(most - b) / cr;
  float h = 0;
  if (r == most) {
    h = bc - gc;
  } else if (g == most) {
    h = static_cast<float>(2.0 + static_cast<double>(rc) - static_cast<double>(bc));
  } else {
    h = static_cast<float>(4.0 + static_cast<double>(gc) - static_cast<double>(rc));
  }
  h = static_cast<float>(std::fmod(static_cast<double>(h) / 6.0 + 1.0, 1.0));
  return {static_cast<std::uint8_t>(static_cast<double>(h) * 255.0),
          static_cast<std::uint8_t>(static_cast<double>(s) * 255.0), static_cast<std::uint8_t>(most)};
}

/// hsv2rgb of one pixel with a saturation above 0.
plain::Rgb pillow_rgb(const Hsv& hsv) {
  const double turned = static_cast<double>(static_cast<float>(hsv.h)) * 6.0 / 255.0;
  const auto i = static_cast<int>(std::floor(turned));
  const auto f = static_cast<float>(turned - static_cast<double>(static_cast<float>(i)));
  const auto fs = static_cast<float>(static_cast<double>(static_cast<float>(hsv.s)) / 255.0);
  const auto rounded = [&](double share) { return static_cast<int>(std::round(static_cast<double>(hsv.v) * share)); };
  const int p = rounded(1.0 - static_cast<double>(fs));
  const int q = rounded(1.0 - static_cast<double>(fs * f));
  const int t = rounded(1.0 - static_cast<double>(fs) * (1.0 - static_cast<double>(f)));
  const int v = hsv.v;
  switch (i % 6) {
    case 0:
      return {v, t, p};
    case 1:
      return {q, v, p};
    case 2:
      return {p, v, t};
    case 3:
      return {p, q, v};
    case 4:
      return {t, p, v};
    default:
      return {v, p, q};
  }
}

}  // namespace

TEST_CASE("the way to HSV, for all pixels that are not gray") {
  std::size_t wrong = 0;
  for (int r = 0; r < 256; ++r) {
    for (int g = 0; g < 256; ++g) {
      for (int b = 0; b < 256; ++b) {
        const int greatest = std::max({r, g, b});
        const int least = std::min({r, g, b});
        if (greatest == least) continue;
        const Hsv expected = pillow_hsv(r, g, b);
        const int middle = r + g + b - greatest - least;
        const std::uint8_t hue = plain::hue_of(plain::channel_order(r, g, b), greatest - least, greatest - middle);
        wrong += hue != expected.h || plain::saturation_of(greatest - least, greatest) != expected.s ? 1U : 0U;
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("the way back, for all of HSV") {
  std::size_t wrong = 0;
  for (int h = 0; h < 256; ++h) {
    const plain::HuePlace place = plain::place_of(h);
    for (int s = 1; s < 256; ++s) {
      for (int v = 0; v < 256; ++v) {
        const int values[3] = {v, plain::middle_of(v, s, place.away), plain::least_of(v, s)};
        const plain::Rgb expected =
            pillow_rgb({static_cast<std::uint8_t>(h), static_cast<std::uint8_t>(s), static_cast<std::uint8_t>(v)});
        wrong += values[place.roles & 3] != expected.r || values[place.roles >> 2 & 3] != expected.g ||
                         values[place.roles >> 4] != expected.b
                     ? 1U
                     : 0U;
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a pixel alone and rows by tables are the same") {
  std::vector<std::uint8_t> row(256 * 3);
  for (int r = 0; r < 256; ++r) {
    for (int g = 0; g < 256; g += 3) {
      const auto shift = static_cast<std::uint8_t>(r * 31 + g);
      for (int b = 0; b < 256; ++b) {
        std::uint8_t* const pixel = row.data() + static_cast<std::size_t>(b) * 3;
        pixel[0] = static_cast<std::uint8_t>(r);
        pixel[1] = static_cast<std::uint8_t>(g);
        pixel[2] = static_cast<std::uint8_t>(b);
      }
      turn_hue_row(row.data(), 256, shift);
      std::size_t wrong = 0;
      for (int b = 0; b < 256; ++b) {
        const std::uint8_t* const pixel = row.data() + static_cast<std::size_t>(b) * 3;
        const plain::Rgb alone = plain::with_hue_turned({r, g, b}, shift);
        wrong += alone.r != pixel[0] || alone.g != pixel[1] || alone.b != pixel[2] ? 1U : 0U;
      }
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("a turn in 256 steps is cut towards 0") {
  CHECK(plain::hue_shift(0) == 0);
  CHECK(plain::hue_shift(0.5F) == 127);
  CHECK(plain::hue_shift(-0.5F) == 129);
  CHECK(plain::hue_shift(0.0039F) == 0);
  CHECK(plain::hue_shift(-0.0039F) == 0);
}
