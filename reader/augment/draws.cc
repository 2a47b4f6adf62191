#include "reader/augment/draws.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace imgpack {

namespace {

constexpr int kTries = 10;

/// Python's int(round(x)), halves to even. REQUIRES: the mode of rounding is the default.
std::int64_t rounded(double x) {
  return static_cast<std::int64_t>(std::nearbyint(x));
}

/// Two sides whose product is about a random part of the image's area, the first divided by the second a random ratio.
struct Sides {
  std::int64_t first;
  std::int64_t second;
};

Sides draw_sides(Size image, const Interval& scale, const Interval& ratio, RandomStream& random) {
  const double area = static_cast<double>(image.width) * image.height * random.uniform(scale.low, scale.high);
  const double proportion = std::exp(random.uniform(std::log(ratio.low), std::log(ratio.high)));
  return {rounded(std::sqrt(area * proportion)), rounded(std::sqrt(area / proportion))};
}

/// At a place where it lies in the image.
Rect placed(std::int64_t width, std::int64_t height, Size image, RandomStream& random) {
  const auto w = static_cast<std::uint32_t>(width);
  const auto h = static_cast<std::uint32_t>(height);
  const auto y = static_cast<std::uint32_t>(random.below(image.height - h + 1));
  const auto x = static_cast<std::uint32_t>(random.below(image.width - w + 1));
  return {x, y, w, h};
}

/// The largest central part of an allowed proportion.
Rect central_part(Size image, const Interval& ratio) {
  const double proportion = static_cast<double>(image.width) / image.height;
  std::uint32_t width = image.width;
  std::uint32_t height = image.height;
  if (proportion < ratio.low) {
    height = static_cast<std::uint32_t>(std::max<std::int64_t>(1, rounded(width / ratio.low)));
  } else if (proportion > ratio.high) {
    width = static_cast<std::uint32_t>(std::max<std::int64_t>(1, rounded(height * ratio.high)));
  }
  return {(image.width - width) / 2, (image.height - height) / 2, width, height};
}

}  // namespace

Rect draw_resized_crop(const RandomResizedCrop& step, Size source, RandomStream& random) {
  for (int i = 0; i < kTries; ++i) {
    const auto [width, height] = draw_sides(source, step.scale, step.ratio, random);
    if (width >= 1 && width <= source.width && height >= 1 && height <= source.height) {
      return placed(width, height, source, random);
    }
  }
  return central_part(source, step.ratio);
}

std::optional<Rect> draw_erased_rect(const RandomErasing& step, Size image, RandomStream& random) {
  for (int i = 0; i < kTries; ++i) {
    const auto [height, width] = draw_sides(image, step.scale, step.ratio, random);
    if (height < image.height && width < image.width) return placed(width, height, image, random);
  }
  return std::nullopt;
}

std::vector<ColorOp> draw_color_ops(const ColorJitter& step, RandomStream& random) {
  using Kind = ColorOp::Kind;
  std::array<std::size_t, 4> order = {0, 1, 2, 3};
  for (std::size_t i = 0; i + 1 < order.size(); ++i) std::swap(order[i], order[i + random.below(order.size() - i)]);

  const std::array<std::pair<Kind, double>, 4> strengths = {{{Kind::brightness, step.brightness},
                                                             {Kind::contrast, step.contrast},
                                                             {Kind::saturation, step.saturation},
                                                             {Kind::hue, step.hue}}};
  std::array<float, 4> factors{};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const auto [kind, strength] = strengths[i];
    if (strength == 0) continue;
    const double center = kind == Kind::hue ? 0 : 1;
    const double least = kind == Kind::hue ? -strength : std::max(0.0, center - strength);
    factors[i] = static_cast<float>(random.uniform(least, center + strength));
  }
  std::vector<ColorOp> ops;
  for (const std::size_t i : order) {
    if (strengths[i].second != 0) ops.push_back({strengths[i].first, factors[i]});
  }
  return ops;
}

}  // namespace imgpack
