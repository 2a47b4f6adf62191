// Steps of a loader's transform, made from plain values. The classes that users write are in imgpack/augmentation.py.
#include "imgpack/augmentation.h"

#include <array>
#include <utility>

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>

#include "python/native/bindings.h"
#include "python/native/choices.h"

namespace imgpack::python {

namespace nb = nanobind;

namespace {

using Pair = std::pair<double, double>;
using Sides = std::pair<std::uint32_t, std::uint32_t>;

constexpr Choices<Interpolation> kInterpolations = {"interpolation", &interpolation_from_name, Interpolation::lanczos};

ImageSize size_of(const Sides& size) {
  return {size.first, size.second};
}

Interval interval_of(const Pair& interval) {
  return {interval.first, interval.second};
}

Augmentation random_resized_crop(const Sides& size, const Pair& scale, const Pair& ratio, nb::str interpolation) {
  return RandomResizedCrop{size_of(size), interval_of(scale), interval_of(ratio), kInterpolations.parse(interpolation)};
}

Augmentation resize_shorter(std::uint32_t shorter, nb::str interpolation) {
  return Resize{.shorter = shorter, .size = {}, .interpolation = kInterpolations.parse(interpolation)};
}

Augmentation resize(const Sides& size, nb::str interpolation) {
  return Resize{.shorter = 0, .size = size_of(size), .interpolation = kInterpolations.parse(interpolation)};
}

void bind_geometry(nb::module_& module) {
  module.def("random_resized_crop", &random_resized_crop, nb::arg("size"), nb::arg("scale"), nb::arg("ratio"),
             nb::arg("interpolation"));
  module.def("resize_shorter", &resize_shorter, nb::arg("shorter"), nb::arg("interpolation"));
  module.def("resize", &resize, nb::arg("size"), nb::arg("interpolation"));
  module.def(
      "center_crop", [](const Sides& size) -> Augmentation { return CenterCrop{size_of(size)}; }, nb::arg("size"));
  module.def(
      "random_crop",
      [](const Sides& size, std::uint32_t padding, bool pad_if_needed,
         const std::array<std::uint8_t, 3>& fill) -> Augmentation {
        return RandomCrop{size_of(size), padding, pad_if_needed, fill};
      },
      nb::arg("size"), nb::arg("padding"), nb::arg("pad_if_needed"), nb::arg("fill"));
  module.def(
      "horizontal_flip", [](double probability) -> Augmentation { return HorizontalFlip{probability}; },
      nb::arg("probability"));
}

void bind_values(nb::module_& module) {
  module.def(
      "color_jitter",
      [](double brightness, double contrast, double saturation, double hue) -> Augmentation {
        return ColorJitter{brightness, contrast, saturation, hue};
      },
      nb::arg("brightness"), nb::arg("contrast"), nb::arg("saturation"), nb::arg("hue"));
  module.def(
      "grayscale", [](double probability) -> Augmentation { return Grayscale{probability}; }, nb::arg("probability"));
  module.def(
      "normalize",
      [](const std::array<float, 3>& mean, const std::array<float, 3>& std) -> Augmentation {
        return Normalize{mean, std};
      },
      nb::arg("mean"), nb::arg("std"));
  module.def(
      "random_erasing",
      [](double probability, const Pair& scale, const Pair& ratio, const std::array<float, 3>& value,
         bool noise) -> Augmentation {
        return RandomErasing{probability, interval_of(scale), interval_of(ratio), value, noise};
      },
      nb::arg("probability"), nb::arg("scale"), nb::arg("ratio"), nb::arg("value"), nb::arg("noise"));
  module.def(
      "mix_up",
      [](double alpha, double probability) -> Augmentation {
        return MixUp{alpha, probability};
      },
      nb::arg("alpha"), nb::arg("probability"));
  module.def(
      "cut_mix",
      [](double alpha, double probability) -> Augmentation {
        return CutMix{alpha, probability};
      },
      nb::arg("alpha"), nb::arg("probability"));
}

}  // namespace

void bind_augmentation(nb::module_& module) {
  nb::class_<Augmentation>(module, "Augmentation", "One step of a loader's transform.")
      .def("__repr__", [](const Augmentation& self) { return text(to_string(self)); });
  bind_geometry(module);
  bind_values(module);
}

}  // namespace imgpack::python
