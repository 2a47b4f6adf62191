// What lists of augmentations are refused for.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "imgpack/error.h"
#include "reader/augment/augmenter.h"

namespace imgpack {

namespace {

constexpr std::uint32_t kMaxSide = ImageSize::kMaxSide;

/// Where in the list a kind of step may stand: after all of lower stages.
enum class ListStage : std::uint8_t { pixels, normalize, erasing, mixing };

/// Checks one step; each function throws if its step makes no sense.
class StepCheck {
 public:
  StepCheck(const Augmentation& step, std::size_t place, DType dtype) : step_(step), place_(place), dtype_(dtype) {}

  ListStage operator()(const RandomResizedCrop& step) const {
    check_size(step.size);
    check_interval("scale", step.scale);
    check_interval("ratio", step.ratio);
    return ListStage::pixels;
  }
  ListStage operator()(const Resize& step) const {
    if ((step.shorter == 0) == (step.size == ImageSize())) fail("either the shorter side or the size has to be given");
    if (step.shorter == 0) check_size(step.size);
    if (step.shorter > kMaxSide) fail(fmt::format("the shorter side has to be 1 to {} pixels", kMaxSide));
    return ListStage::pixels;
  }
  ListStage operator()(const CenterCrop& step) const {
    check_size(step.size);
    return ListStage::pixels;
  }
  ListStage operator()(const RandomCrop& step) const {
    check_size(step.size);
    if (step.padding > kMaxSide) fail(fmt::format("padding has to be at most {} pixels", kMaxSide));
    return ListStage::pixels;
  }
  ListStage operator()(const HorizontalFlip& step) const {
    check_probability(step.probability);
    return ListStage::pixels;
  }
  ListStage operator()(const ColorJitter& step) const {
    for (const double strength : {step.brightness, step.contrast, step.saturation}) {
      if (!(strength >= 0) || !std::isfinite(static_cast<float>(strength))) {
        fail("brightness, contrast and saturation have to be 0 or greater");
      }
    }
    if (!(step.hue >= 0 && step.hue <= 0.5)) fail("hue has to be 0 to 0.5");
    return ListStage::pixels;
  }
  ListStage operator()(const Grayscale& step) const {
    check_probability(step.probability);
    return ListStage::pixels;
  }
  ListStage operator()(const Normalize& step) const {
    if (dtype_ == DType::u8) fail("uint8 can't hold the result");
    check_finite("mean", step.mean);
    check_finite("std", step.std);
    if (std::find(step.std.begin(), step.std.end(), 0.0F) != step.std.end()) fail("no std may be 0");
    return ListStage::normalize;
  }
  ListStage operator()(const RandomErasing& step) const {
    check_probability(step.probability);
    check_interval("scale", step.scale);
    check_interval("ratio", step.ratio);
    if (step.scale.high > 1) fail("scale has to be at most 1");
    check_finite("value", step.value);
    if (dtype_ == DType::u8) {
      const auto fits = [](float value) { return value >= 0 && value <= 255 && value == std::floor(value); };
      if (step.noise) fail("uint8 can't hold normal noise");
      if (!std::all_of(step.value.begin(), step.value.end(), fits)) {
        fail("value has to be a whole number from 0 to 255 with uint8");
      }
    }
    return ListStage::erasing;
  }
  ListStage operator()(const MixUp& step) const { return check_mixing(step.alpha, step.probability); }
  ListStage operator()(const CutMix& step) const { return check_mixing(step.alpha, step.probability); }

  [[noreturn]] void fail(std::string_view what) const {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("step {} of the transform, {}: {}", place_ + 1, to_string(step_), what));
  }

 private:
  void check_size(ImageSize size) const {
    const auto fits = [](std::uint32_t side) { return side >= 1 && side <= kMaxSide; };
    if (!fits(size.height) || !fits(size.width)) fail(fmt::format("both sides have to be 1 to {} pixels", kMaxSide));
  }
  void check_interval(std::string_view what, const Interval& interval) const {
    if (interval.low > 0 && interval.low <= interval.high && std::isfinite(interval.high)) return;
    fail(fmt::format("{} has to go from a number above 0 to one that is not less", what));
  }
  void check_probability(double probability) const {
    if (!(probability >= 0 && probability <= 1)) fail("a probability is 0 to 1");
  }
  void check_finite(std::string_view what, const std::array<float, 3>& values) const {
    for (const float value : values) {
      if (!std::isfinite(value)) fail(fmt::format("{} has to be finite", what));
    }
  }
  ListStage check_mixing(double alpha, double probability) const {
    if (!(alpha > 0) || !std::isfinite(alpha)) fail("alpha has to be greater than 0");
    check_probability(probability);
    return ListStage::mixing;
  }

  const Augmentation& step_;
  std::size_t place_;
  DType dtype_;
};

}  // namespace

void check_augmentations(std::span<const Augmentation> steps, DType dtype) {
  ListStage reached = ListStage::pixels;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepCheck check(steps[i], i, dtype);
    const ListStage stage = std::visit(check, steps[i]);
    if (stage < reached) {
      check.fail(
          "steps on 8-bit pixels come first, then Normalize, then RandomErasing, and MixUp or CutMix at the end");
    }
    if (stage == reached && stage == ListStage::normalize) check.fail("there is a Normalize before it");
    const auto same_kind = [&](const Augmentation& other) { return other.index() == steps[i].index(); };
    if (stage == ListStage::mixing &&
        std::any_of(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(i), same_kind)) {
      check.fail("a batch is mixed once: by MixUp, by CutMix, or by either of the two");
    }
    reached = stage;
  }
}

}  // namespace imgpack
