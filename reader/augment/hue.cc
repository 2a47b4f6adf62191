// Tables of what takes divisions; the rest of the arithmetic is that of hue_math.h.
#include "reader/augment/hue.h"

#include <algorithm>
#include <array>

#include "reader/augment/hue_math.h"

namespace imgpack {

namespace {

constexpr std::size_t pair_index(int a, int b) {
  return static_cast<std::size_t>(a) << 8 | static_cast<std::size_t>(b);
}

// Six tables for the eight numbers of channel_order(), of which two can't be.
constexpr std::array<unsigned, 6> kOrders = {0, 1, 3, 4, 6, 7};
constexpr std::array<std::uint8_t, 8> kCaseOf = {0, 1, 0, 2, 3, 0, 4, 5};

/// plain::HuePlace with a byte for each channel.
struct Place {
  std::uint8_t roles[3];
  std::uint8_t away;
};

struct Tables {
  std::array<std::array<std::uint8_t, 65536>, 6> hue{};  ///< by case, range and distance
  std::array<std::uint8_t, 65536> saturation{};          ///< by range and greatest value
  std::array<Place, 256> place{};                        ///< of a hue

  Tables() {
    for (int range = 1; range < 256; ++range) {
      for (int distance = 0; distance <= range; ++distance) {
        for (std::size_t c = 0; c < kOrders.size(); ++c) {
          hue[c][pair_index(range, distance)] = plain::hue_of(kOrders[c], range, distance);
        }
      }
      for (int greatest = range; greatest < 256; ++greatest) {
        saturation[pair_index(range, greatest)] = plain::saturation_of(range, greatest);
      }
    }
    for (int v = 0; v < 256; ++v) {
      const auto [roles, away] = plain::place_of(v);
      place[static_cast<std::size_t>(v)] = {
          {static_cast<std::uint8_t>(roles & 3), static_cast<std::uint8_t>(roles >> 2 & 3),
           static_cast<std::uint8_t>(roles >> 4)},
          away};
    }
  }
};

/// Made when it is first needed.
const Tables& tables() {
  static const Tables made;
  return made;
}

/// Without branches on the order of the channels, which noise would mislead.
void turn_pixel(const Tables& table, std::uint8_t* rgb, std::uint8_t shift) {
  const int r = rgb[0];
  const int g = rgb[1];
  const int b = rgb[2];
  const int greatest = std::max(std::max(r, g), b);
  const int least = std::min(std::min(r, g), b);
  if (greatest == least) return;
  const int middle = r + g + b - greatest - least;
  const std::size_t of_order = kCaseOf[plain::channel_order(r, g, b)];
  const std::uint8_t hue = table.hue[of_order][pair_index(greatest - least, greatest - middle)];
  const std::uint8_t saturation = table.saturation[pair_index(greatest - least, greatest)];
  const Place& place = table.place[static_cast<std::uint8_t>(hue + shift)];
  const std::uint8_t values[3] = {static_cast<std::uint8_t>(greatest),
                                  static_cast<std::uint8_t>(plain::middle_of(greatest, saturation, place.away)),
                                  static_cast<std::uint8_t>(plain::least_of(greatest, saturation))};
  for (std::size_t c = 0; c < 3; ++c) rgb[c] = values[place.roles[c]];
}

}  // namespace

void turn_hue_row(std::uint8_t* rgb, std::size_t width, std::uint8_t shift) {
  const Tables& table = tables();
  for (std::size_t x = 0; x < width; ++x) turn_pixel(table, rgb + 3 * x, shift);
}

}  // namespace imgpack
