// Turning the hue of one pixel through Pillow's 8-bit HSV (rgb2hsv_row and hsv2rgb of Convert.c), for host and device.
//
// A pixel that is not gray has a greatest, a middle and a least value. The order of its channels makes six cases; in
// each, the way to HSV comes down to functions of greatest - least, greatest - middle and greatest. The way back needs
// the greatest value, one that depends on it and the saturation, and one that also depends on the place between two
// corners of the color hexagon.
//
// Pillow mixes single and double precision. Only the hue needs floating point here: what the other numbers are rounded
// to is a ratio of integers that is never as near to a limit as Pillow's errors reach. hue_math_test.cc compares each
// function with Pillow's arithmetic for all arguments there are.
#pragma once

#include <cstdint>

#include "codec/host_device.h"

namespace imgpack::plain {

/// Which channel is greater than which, 0 to 7 without 2 and 5. Where two are equal, the cases agree on the hue.
IMGPACK_HD constexpr unsigned channel_order(int r, int g, int b) noexcept {
  return (r >= g ? 4U : 0U) | (r >= b ? 2U : 0U) | (g >= b ? 1U : 0U);
}

/// In 255ths of a turn, rounded down, with range = greatest - least and distance = greatest - middle. In sixths of a
/// turn it is base + or - distance / range. REQUIRES: 0 <= distance <= range, 0 < range < 256.
IMGPACK_HD constexpr std::uint8_t hue_of(unsigned order, int range, int distance) noexcept {
  constexpr std::uint32_t kBases = 0x20062044;  // base + 1, four bits for each order
  constexpr std::uint32_t kFalls = 0b10010010;  // orders in which the distance is subtracted
  const auto base = static_cast<float>(static_cast<int>(kBases >> (4 * order) & 15) - 1);
  const float part = static_cast<float>(distance) / static_cast<float>(range);
  const float turns = ((kFalls >> order & 1) != 0 ? base - part : base + part) / 6.0F;
  return static_cast<std::uint8_t>((turns < 0 ? turns + 1.0F : turns) * 255.0F);
}

/// In 255ths, rounded down. REQUIRES: 0 < range <= greatest < 256.
IMGPACK_HD constexpr std::uint8_t saturation_of(int range, int greatest) noexcept {
  return static_cast<std::uint8_t>(255U * static_cast<unsigned>(range) / static_cast<unsigned>(greatest));
}

/// Where a hue lies on the hexagon.
struct HuePlace {
  std::uint8_t roles;  ///< two bits for each of R, G, B from the lowest on: 0 the greatest, 1 the middle, 2 the least
  std::uint8_t away;   ///< from the corner where the middle value is the greatest, in 255ths of a side
};

IMGPACK_HD constexpr HuePlace place_of(int hue) noexcept {
  constexpr std::uint64_t kRoles = 0x18'09'06'12'21'24;  // eight bits for each side of the hexagon, from the lowest on
  const int side = 6 * hue / 255;
  const int rest = 6 * hue % 255;
  const auto roles = static_cast<std::uint8_t>(kRoles >> (side % 6 * 8) & 0xFF);
  return {roles, static_cast<std::uint8_t>(side % 2 == 0 ? 255 - rest : rest)};
}

/// greatest * (1 - saturation * away), rounded to nearest: never a half, since 65025 is odd.
IMGPACK_HD constexpr int middle_of(int greatest, int saturation, int away) noexcept {
  const auto share = static_cast<std::uint32_t>(65025 - saturation * away);
  return static_cast<int>((2 * static_cast<std::uint32_t>(greatest) * share + 65025) / (2 * 65025));
}

IMGPACK_HD constexpr int least_of(int greatest, int saturation) noexcept {
  return (2 * greatest * (255 - saturation) + 255) / (2 * 255);
}

/// As adjust_hue of torchvision: what turns a hue, of 256 steps, for a turn of -0.5 to 0.5.
IMGPACK_HD constexpr std::uint8_t hue_shift(float turn) noexcept {
  return static_cast<std::uint8_t>(static_cast<int>(static_cast<double>(turn) * 255));
}

/// A pixel's channels, 0 to 255.
struct Rgb {
  int r;
  int g;
  int b;
};

/// Of a pixel: the hue of 256 steps turned by `shift` of them.
IMGPACK_HD constexpr Rgb with_hue_turned(Rgb pixel, std::uint8_t shift) noexcept {
  const auto [r, g, b] = pixel;
  const int high = r > g ? r : g;
  const int low = r > g ? g : r;
  const int greatest = high > b ? high : b;
  const int least = low < b ? low : b;
  if (greatest == least) return pixel;
  const int range = greatest - least;
  const int hue = hue_of(channel_order(r, g, b), range, 2 * greatest + least - r - g - b);
  const int saturation = saturation_of(range, greatest);
  const HuePlace place = place_of((hue + shift) & 0xFF);
  const int new_middle = middle_of(greatest, saturation, place.away);
  const int new_least = least_of(greatest, saturation);
  const auto value = [&](int role) { return role == 0 ? greatest : role == 1 ? new_middle : new_least; };
  return {value(place.roles & 3), value(place.roles >> 2 & 3), value(place.roles >> 4)};
}

}  // namespace imgpack::plain
