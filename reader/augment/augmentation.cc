#include "imgpack/augmentation.h"

#include <fmt/format.h>

namespace imgpack {

namespace {

std::string text_of(ImageSize size) {
  return fmt::format("({}, {})", size.height, size.width);
}

std::string text_of(const Interval& interval) {
  return fmt::format("({:.5g}, {:.5g})", interval.low, interval.high);
}

std::string text_of(const std::array<float, 3>& values) {
  return fmt::format("({:.5g}, {:.5g}, {:.5g})", values[0], values[1], values[2]);
}

struct Describe {
  std::string operator()(const RandomResizedCrop& step) const {
    return fmt::format("RandomResizedCrop(size={}, scale={}, ratio={}, interpolation={})", text_of(step.size),
                       text_of(step.scale), text_of(step.ratio), imgpack::to_string(step.interpolation));
  }
  std::string operator()(const Resize& step) const {
    return fmt::format("Resize(size={}, interpolation={})",
                       step.shorter != 0 ? fmt::format("{}", step.shorter) : text_of(step.size),
                       imgpack::to_string(step.interpolation));
  }
  std::string operator()(const CenterCrop& step) const {
    return fmt::format("CenterCrop(size={})", text_of(step.size));
  }
  std::string operator()(const RandomCrop& step) const {
    return fmt::format("RandomCrop(size={}, padding={}, pad_if_needed={}, fill=({}, {}, {}))", text_of(step.size),
                       step.padding, step.pad_if_needed, step.fill[0], step.fill[1], step.fill[2]);
  }
  std::string operator()(const HorizontalFlip& step) const {
    return fmt::format("HorizontalFlip(probability={:.5g})", step.probability);
  }
  std::string operator()(const ColorJitter& step) const {
    return fmt::format("ColorJitter(brightness={:.5g}, contrast={:.5g}, saturation={:.5g}, hue={:.5g})",
                       step.brightness, step.contrast, step.saturation, step.hue);
  }
  std::string operator()(const Grayscale& step) const {
    return fmt::format("Grayscale(probability={:.5g})", step.probability);
  }
  std::string operator()(const Normalize& step) const {
    return fmt::format("Normalize(mean={}, std={})", text_of(step.mean), text_of(step.std));
  }
  std::string operator()(const RandomErasing& step) const {
    return fmt::format("RandomErasing(probability={:.5g}, scale={}, ratio={}, value={})", step.probability,
                       text_of(step.scale), text_of(step.ratio), step.noise ? "noise" : text_of(step.value));
  }
  std::string operator()(const MixUp& step) const {
    return fmt::format("MixUp(alpha={:.5g}, probability={:.5g})", step.alpha, step.probability);
  }
  std::string operator()(const CutMix& step) const {
    return fmt::format("CutMix(alpha={:.5g}, probability={:.5g})", step.alpha, step.probability);
  }
};

}  // namespace

std::string to_string(const Augmentation& step) {
  return std::visit(Describe(), step);
}

}  // namespace imgpack
