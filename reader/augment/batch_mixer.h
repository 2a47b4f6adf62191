// MixUp and CutMix on a finished batch, as references/classification/transforms.py of torchvision 0.14 does them: each
// sample is mixed with its predecessor in the global batch, the first with the last (batch.roll(1)).
//
//   BatchMixer mixer(augmenter.mixing(), dtype, layout, size, classes);
//   const Mix mix = mixer.draw(key, position);
//   mixer.mix_labels(mix, labels, previous_label, soft_labels);  // on any thread
//   mixer.mix_images(mix, images, count, previous);
//
// The result does not depend on how the global batch is split into ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "imgpack/augmentation.h"
#include "imgpack/batch.h"
#include "reader/augment/augmenter.h"

namespace imgpack {

/// What was drawn for a global batch: image = share * image + (1 - share) * predecessor, or the rectangle of the
/// predecessor's pixels.
struct Mix {
  enum class Kind : std::uint8_t { none, blend, paste };
  Kind kind = Kind::none;
  double share = 1;  ///< of the sample itself in its label, and in its pixels if they are blended
  Rect pasted;       ///< may be empty
  bool operator==(const Mix&) const = default;
};

/// Immutable; all functions may be called from several threads.
class BatchMixer {
 public:
  /// Of several ways of mixing each batch draws one, all equally likely. Throws invalid_argument for none, and for 0
  /// classes.
  BatchMixer(Mixing mixing, DType dtype, Layout layout, ImageSize size, std::uint32_t classes);

  /// `key` is that of RandomPurpose::batch, `position` where the global batch begins in the epoch.
  Mix draw(std::uint64_t key, std::uint64_t position) const;

  /// In place, `count` images without gaps. `previous` is the predecessor of the first image, before it was mixed, and
  /// is not in `images`; nullptr: the last one of `images`, which then are the whole global batch. Blended values are
  /// computed in float32 as torch does, and rounded to nearest, halves to even, for other dtypes.
  void mix_images(const Mix& mix, std::byte* images, std::uint32_t count, const std::byte* previous) const;

  /// [labels.size(), classes] probabilities. `previous_label` is that of the sample before the first. Throws
  /// invalid_argument for labels that are no class indices. REQUIRES: out.size() == labels.size() * classes.
  void mix_labels(const Mix& mix, std::span<const std::int64_t> labels, std::int64_t previous_label,
                  std::span<float> out) const;

 private:
  Mixing mixing_;
  DType dtype_;
  Layout layout_;
  ImageSize size_;
  std::uint32_t classes_;
};

}  // namespace imgpack
