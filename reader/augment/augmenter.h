// A checked list of augmentations: what becomes of an image's size, and all that is drawn at random for a sample.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "codec/image.h"
#include "imgpack/augmentation.h"
#include "imgpack/batch.h"
#include "reader/augment/pixel_format.h"
#include "reader/augment/sample_plan.h"

namespace imgpack {

/// MixUp, CutMix, or both in the order of the list; empty: batches are not mixed.
using Mixing = std::vector<std::variant<MixUp, CutMix>>;

/// Immutable; all functions may be called from several threads.
class Augmenter {
 public:
  /// Throws invalid_argument, naming the step, for values out of range, for an order that augmentation.h does not
  /// allow, and for what the dtype can't hold.
  Augmenter(std::vector<Augmentation> steps, DType dtype, Layout layout);

  const PixelFormat& format() const noexcept { return format_; }
  /// What batch_mixer.h does.
  const Mixing& mixing() const noexcept { return mixing_; }
  /// In the order in which they are applied.
  const std::vector<Augmentation>& steps() const noexcept { return steps_; }

  /// The size of every result, whatever the source's; nothing if no step fixes it.
  std::optional<ImageSize> output_size() const noexcept;
  /// What an image of that size becomes; nothing if it is refused, for the reason that plan() gives.
  std::optional<ImageSize> output_size(Size source) const;

  /// What is done to a record's image of that size. It depends on the arguments alone. A reason instead where a step
  /// can't be applied to it: "RandomCrop of 224x224 pixels from an image of 200x300". `key` is that of
  /// RandomPurpose::augment.
  std::variant<SamplePlan, std::string> plan(std::uint64_t key, std::uint64_t record, Size source) const;
  /// The same into `out`, whose memory is used again, so that planning one sample after the other allocates nothing but
  /// lists of color operations. With a reason, `out` means nothing.
  std::optional<std::string> plan(std::uint64_t key, std::uint64_t record, Size source, SamplePlan& out) const;

 private:
  std::vector<Augmentation> steps_;
  PixelFormat format_;
  std::vector<std::uint32_t> operations_;  ///< of each step: what its random numbers are named by
  Mixing mixing_;
};

/// Throws as Augmenter does.
void check_augmentations(std::span<const Augmentation> steps, DType dtype);

}  // namespace imgpack
