// Compiled without contraction of floating-point operations (reader/CMakeLists.txt): Pillow rounds after each one.
//
// A pixel that is not gray has a greatest, a middle and a least value. Which of the channels is which makes six cases;
// in each, rgb2hsv_row of Pillow's Convert.c comes down to a function of two numbers, greatest - least and greatest -
// middle. The way back, hsv2rgb, needs the greatest value, one that depends on it and the saturation, and one that also
// depends on the place between two corners of the color hexagon.
#include "reader/augment/hue.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace imgpack {

namespace {

constexpr std::size_t pair_index(int a, int b) {
  return static_cast<std::size_t>(a) << 8 | static_cast<std::size_t>(b);
}

/// With the hue as h = base + sign * (greatest - middle) / (greatest - least), in sixths of a turn.
struct Case {
  float base;
  float sign;
};
// By greatest and least channel: red and blue, red and green, green and blue, green and red, blue and red, blue and
// green.
constexpr Case kCases[6] = {{1, -1}, {-1, 1}, {1, 1}, {3, -1}, {3, 1}, {5, -1}};

std::uint8_t hue_of(const Case& of, int range, int distance) {
  const float part = static_cast<float>(distance) / static_cast<float>(range);
  const float sixths = of.base + of.sign * part;
  const auto hue = static_cast<float>(std::fmod(static_cast<double>(sixths) / 6.0 + 1.0, 1.0));
  return static_cast<std::uint8_t>(static_cast<double>(hue) * 255.0);
}

std::uint8_t saturation_of(int range, int greatest) {
  const float saturation = static_cast<float>(range) / static_cast<float>(greatest);
  return static_cast<std::uint8_t>(static_cast<double>(saturation) * 255.0);
}

float unit(int saturation) {
  return static_cast<float>(static_cast<double>(static_cast<float>(saturation)) / 255.0);
}

/// Where a hue lies on the hexagon.
struct Place {
  std::uint8_t order[3];  ///< for R, G, B: 0 the greatest, 1 the middle, 2 the least value
  bool rising;            ///< whether the middle value grows with the hue
  double rest;            ///< how far it is to the corner that matters, in [0, 1]
};

constexpr std::uint8_t kOrders[6][3] = {{0, 1, 2}, {1, 0, 2}, {2, 0, 1}, {2, 1, 0}, {1, 2, 0}, {0, 2, 1}};

Place place_of(int hue) {
  const double turned = static_cast<double>(static_cast<float>(hue)) * 6.0 / 255.0;
  const auto sector = static_cast<int>(std::floor(turned));
  const auto rest = static_cast<float>(turned - static_cast<double>(static_cast<float>(sector)));
  Place place{};
  std::copy_n(kOrders[sector % 6], 3, place.order);
  place.rising = sector % 2 == 0;
  place.rest = place.rising ? 1.0 - static_cast<double>(rest) : static_cast<double>(rest);
  return place;
}

/// round() of what is not negative.
std::uint8_t rounded(double value) {
  return static_cast<std::uint8_t>(value + 0.5);
}

struct Tables {
  std::array<std::array<std::uint8_t, 65536>, 6> hue{};  ///< by case, range and distance
  std::array<std::uint8_t, 65536> saturation{};          ///< by range and greatest value
  std::array<std::uint8_t, 65536> least{};               ///< by saturation and greatest value
  std::array<float, 256> unit{};                         ///< of a saturation
  std::array<Place, 256> place{};                        ///< of a hue

  Tables() {
    for (int range = 1; range < 256; ++range) {
      for (int distance = 0; distance <= range; ++distance) {
        for (std::size_t c = 0; c < 6; ++c) hue[c][pair_index(range, distance)] = hue_of(kCases[c], range, distance);
      }
      for (int greatest = range; greatest < 256; ++greatest) {
        saturation[pair_index(range, greatest)] = saturation_of(range, greatest);
      }
    }
    for (int v = 0; v < 256; ++v) {
      const auto index = static_cast<std::size_t>(v);
      unit[index] = imgpack::unit(v);
      place[index] = place_of(v);
      for (int greatest = 0; greatest < 256; ++greatest) {
        least[pair_index(v, greatest)] =
            rounded(static_cast<double>(greatest) * (1.0 - static_cast<double>(imgpack::unit(v))));
      }
    }
  }
};

/// Made when it is first needed.
const Tables& tables() {
  static const Tables made;
  return made;
}

/// Index into kCases, without branches, which noise would mislead. Where two channels are equal, two cases agree.
std::size_t case_of(int r, int g, int b) {
  constexpr std::uint8_t kCaseOf[8] = {4, 3, 0, 2, 5, 0, 1, 0};  // two of the eight can't be
  return kCaseOf[(r >= g ? 4 : 0) + (r >= b ? 2 : 0) + (g >= b ? 1 : 0)];
}

void turn_pixel(const Tables& table, std::uint8_t* rgb, std::uint8_t shift) {
  const int r = rgb[0];
  const int g = rgb[1];
  const int b = rgb[2];
  const int greatest = std::max(std::max(r, g), b);
  const int least = std::min(std::min(r, g), b);
  if (greatest == least) return;
  const int middle = r + g + b - greatest - least;
  const std::uint8_t hue = table.hue[case_of(r, g, b)][pair_index(greatest - least, greatest - middle)];
  const std::uint8_t saturation = table.saturation[pair_index(greatest - least, greatest)];

  const Place& place = table.place[static_cast<std::uint8_t>(hue + shift)];
  const double product = static_cast<double>(table.unit[saturation]) * place.rest;
  // In one of the two cases both factors are single-precision numbers there, and so is their product.
  const double products[2] = {static_cast<double>(static_cast<float>(product)), product};
  const double share = 1.0 - products[place.rising ? 1 : 0];
  const std::uint8_t values[3] = {static_cast<std::uint8_t>(greatest), rounded(static_cast<double>(greatest) * share),
                                  table.least[pair_index(saturation, greatest)]};
  for (std::size_t c = 0; c < 3; ++c) rgb[c] = values[place.order[c]];
}

}  // namespace

void turn_hue_row(std::uint8_t* rgb, std::size_t width, std::uint8_t shift) {
  const Tables& table = tables();
  for (std::size_t x = 0; x < width; ++x) turn_pixel(table, rgb + 3 * x, shift);
}

}  // namespace imgpack
