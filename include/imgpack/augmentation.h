// What a loader does to each image between decoding and the batch: a list of steps, with torchvision's names, defaults
// and distributions.
//
//   std::vector<Augmentation> transform = {RandomResizedCrop{224}, HorizontalFlip{}, Normalize::imagenet()};
//
// Steps are applied in the order of the list: first those on 8-bit pixels (geometry, ColorJitter, Grayscale), then
// Normalize, then RandomErasing, last MixUp, CutMix, or both, of which each batch draws one; another order is refused.
// Whatever is random is drawn from (seed, epoch, record, kind of step, how many of that kind come before) alone: the
// same sample looks the same whatever thread, rank or device makes it, and adding a step changes no other. Pixels are
// those that Pillow 9.4 and torchvision 0.14 (on Pillow images) make with the same parameters.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "imgpack/transform.h"

namespace imgpack {

/// Height and width in pixels, each 1 to kMaxSide.
struct ImageSize {
  static constexpr std::uint32_t kMaxSide = 65500;
  std::uint32_t height = 0;
  std::uint32_t width = 0;

  constexpr ImageSize() = default;
  constexpr ImageSize(std::uint32_t side) : height(side), width(side) {}
  constexpr ImageSize(std::uint32_t height_, std::uint32_t width_) : height(height_), width(width_) {}
  bool operator==(const ImageSize&) const = default;
};

/// [low, high].
struct Interval {
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

/// A part of random area and proportion, resized to `size`. Ten tries, then the largest central part of allowed
/// proportion, as torchvision; where that would round a side to 0, it is 1.
struct RandomResizedCrop {
  ImageSize size;
  Interval scale = {0.08, 1.0};         ///< area of the part, of the image's; 0 < low <= high
  Interval ratio = {3.0 / 4, 4.0 / 3};  ///< width / height; 0 < low <= high
  Interpolation interpolation = Interpolation::bilinear;
};

/// The shorter side becomes `shorter`, or the image becomes `size` if that is given.
struct Resize {
  std::uint32_t shorter = 0;  ///< pixels; 0: use `size`
  ImageSize size = {};
  Interpolation interpolation = Interpolation::bilinear;
};

/// The middle; where the image is smaller, it is padded with black.
struct CenterCrop {
  ImageSize size;
};

/// A part of the image's own scale, at a random place, of the image padded by `padding` pixels of `fill` on each side.
/// With `pad_if_needed` smaller images are padded further, else they are refused: the record counts as damaged.
struct RandomCrop {
  ImageSize size;
  std::uint32_t padding = 0;
  bool pad_if_needed = false;
  std::array<std::uint8_t, 3> fill = {0, 0, 0};  ///< R, G, B
};

/// Left and right exchanged with a probability.
struct HorizontalFlip {
  double probability = 0.5;
};

/// Brightness, contrast, saturation and hue changed by random factors, in random order. A strength s means factors from
/// max(0, 1 - s) to 1 + s; hue turns by -hue to +hue, at most 0.5.
struct ColorJitter {
  double brightness = 0;
  double contrast = 0;
  double saturation = 0;
  double hue = 0;
};

/// Gray (ITU-R 601-2 luma, as Pillow's "L") in all three channels with a probability.
struct Grayscale {
  double probability = 1;
};

/// (value / 255 - mean) / std for each channel, in float32; integers can't hold the result.
struct Normalize {
  std::array<float, 3> mean = {0, 0, 0};
  std::array<float, 3> std = {1, 1, 1};  ///< none 0

  /// Mean and deviation of ImageNet, (0.485, 0.456, 0.406) and (0.229, 0.224, 0.225).
  static constexpr Normalize imagenet() { return {{0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}}; }
};

/// A random rectangle filled with `value` (in the batch's own units, after Normalize) with a probability. Nothing is
/// erased where ten tries make no rectangle that is smaller than the image in both directions.
struct RandomErasing {
  double probability = 0.5;
  Interval scale = {0.02, 0.33};  ///< area, of the image's; 0 < low <= high <= 1
  Interval ratio = {0.3, 3.3};    ///< height / width; 0 < low <= high
  std::array<float, 3> value = {0, 0, 0};
  bool noise = false;  ///< standard normal values instead
};

/// Each sample mixed with its neighbour in the global batch: image = l * image + (1 - l) * neighbour, and soft labels
/// likewise; l from Beta(alpha, alpha), one for the batch, as torchvision's. Integers are rounded to nearest.
struct MixUp {
  double alpha = 1;
  double probability = 1;  ///< that a batch is mixed
};

/// A rectangle of each sample taken from its neighbour in the global batch, soft labels by area.
struct CutMix {
  double alpha = 1;
  double probability = 1;
};

using Augmentation = std::variant<RandomResizedCrop, Resize, CenterCrop, RandomCrop, HorizontalFlip, ColorJitter,
                                  Grayscale, Normalize, RandomErasing, MixUp, CutMix>;

/// "RandomResizedCrop(size=(224, 224), scale=(0.08, 1), ratio=(0.75, 1.3333), interpolation=bilinear)".
std::string to_string(const Augmentation& step);

}  // namespace imgpack
