// Compiled without contraction of floating-point operations (CMakeLists.txt): Pillow rounds after each one.
#include "reader/augment/color_ops.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace imgpack {

namespace {

struct Rgb {
  std::uint8_t r, g, b;
};

std::uint8_t luma(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
}

/// Image.blend() of one value; clipping is without effect between the two.
std::uint8_t blend(int from, int to, float factor) {
  const float value = static_cast<float>(from) + factor * static_cast<float>(to - from);
  return static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F));
}

template <class Work>
void for_each_pixel(RgbView image, Work work) {
  for (std::uint32_t y = 0; y < image.height; ++y) {
    std::uint8_t* pixel = image.row(y);
    for (std::uint32_t x = 0; x < image.width; ++x, pixel += 3) work(pixel);
  }
}

/// Every value blended with the same one.
void blend_with(RgbView image, int from, float factor) {
  std::array<std::uint8_t, 256> table;
  for (int v = 0; v < 256; ++v) table[static_cast<std::size_t>(v)] = blend(from, v, factor);
  for_each_pixel(image, [&](std::uint8_t* pixel) {
    for (int c = 0; c < 3; ++c) pixel[c] = table[pixel[c]];
  });
}

/// ImageStat's mean of the gray image, rounded as ImageEnhance.Contrast does.
int mean_luma(RgbView image) {
  std::uint64_t sum = 0;
  for_each_pixel(image, [&](const std::uint8_t* pixel) { sum += luma(pixel); });
  const double count = static_cast<double>(image.width) * image.height;
  return static_cast<int>(static_cast<double>(sum) / count + 0.5);
}

void saturate(RgbView image, float factor) {
  for_each_pixel(image, [&](std::uint8_t* pixel) {
    const int gray = luma(pixel);
    for (int c = 0; c < 3; ++c) pixel[c] = blend(gray, pixel[c], factor);
  });
}

void make_gray(RgbView image) {
  for_each_pixel(image, [](std::uint8_t* pixel) { std::fill_n(pixel, 3, luma(pixel)); });
}

struct Hsv {
  std::uint8_t h, s, v;
};

/// rgb2hsv_row of Convert.c. A pixel that is not gray.
Hsv to_hsv(const std::uint8_t* rgb, int most, int least) {
  const auto range = static_cast<float>(most - least);
  const auto part = [&](int c) { return static_cast<float>(most - rgb[c]) / range; };
  float hue;
  if (rgb[0] == most) {
    hue = part(2) - part(1);
  } else if (rgb[1] == most) {
    hue = static_cast<float>(2.0 + static_cast<double>(part(0)) - static_cast<double>(part(2)));
  } else {
    hue = static_cast<float>(4.0 + static_cast<double>(part(1)) - static_cast<double>(part(0)));
  }
  hue = static_cast<float>(std::fmod(static_cast<double>(hue) / 6.0 + 1.0, 1.0));
  const float saturation = range / static_cast<float>(most);
  return {static_cast<std::uint8_t>(static_cast<double>(hue) * 255.0),
          static_cast<std::uint8_t>(static_cast<double>(saturation) * 255.0), static_cast<std::uint8_t>(most)};
}

/// hsv2rgb of Convert.c.
Rgb to_rgb(Hsv color) {
  const std::uint8_t v = color.v;
  if (color.s == 0) return {v, v, v};
  const double turned = static_cast<double>(color.h) * 6.0 / 255.0;
  const double sector = std::floor(turned);
  const double rest = static_cast<float>(turned - sector);
  const double saturation = static_cast<float>(static_cast<double>(color.s) / 255.0);
  const auto value = [v](double share) {
    return static_cast<std::uint8_t>(std::clamp(std::round(static_cast<double>(v) * share), 0.0, 255.0));
  };
  const std::uint8_t p = value(1.0 - saturation);
  const std::uint8_t q = value(1.0 - saturation * rest);
  const std::uint8_t t = value(1.0 - saturation * (1.0 - rest));
  switch (static_cast<int>(sector) % 6) {
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

/// As adjust_hue of torchvision: HSV values of 8 bits, of which the first wraps around.
void turn_hue(RgbView image, float turn) {
  const auto shift = static_cast<std::uint8_t>(static_cast<int>(static_cast<double>(turn) * 255));
  for_each_pixel(image, [shift](std::uint8_t* pixel) {
    const int most = std::max({pixel[0], pixel[1], pixel[2]});
    const int least = std::min({pixel[0], pixel[1], pixel[2]});
    if (most == least) return;
    Hsv color = to_hsv(pixel, most, least);
    color.h = static_cast<std::uint8_t>(color.h + shift);
    const Rgb turned = to_rgb(color);
    pixel[0] = turned.r;
    pixel[1] = turned.g;
    pixel[2] = turned.b;
  });
}

}  // namespace

void apply_color(const ColorOp& op, RgbView image) {
  using Kind = ColorOp::Kind;
  // Image.blend() copies one of its images for the factor 1; hue 0 goes through HSV all the same.
  if (op.factor == 1 && op.kind != Kind::hue && op.kind != Kind::grayscale) return;
  switch (op.kind) {
    case Kind::brightness:
      return blend_with(image, 0, op.factor);
    case Kind::contrast:
      return blend_with(image, mean_luma(image), op.factor);
    case Kind::saturation:
      return saturate(image, op.factor);
    case Kind::hue:
      return turn_hue(image, op.factor);
    case Kind::grayscale:
      return make_gray(image);
  }
}

}  // namespace imgpack
