#include "reader/augment/batch_mixer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "imgpack/error.h"
#include "imgpack/record.h"
#include "mmap/byte_buffer.h"
#include "reader/augment/mix_kernels.h"
#include "reader/random/beta.h"
#include "reader/random/random_stream.h"

namespace imgpack {

namespace {

/// Calls `work` with the offset and number of bytes of each run of the rectangle's rows in an image.
template <class Work>
void for_each_run(const Rect& rect, ImageSize size, Layout layout, std::size_t value_bytes, Work work) {
  const bool planar = layout == Layout::nchw;
  const std::size_t pixel_bytes = planar ? value_bytes : 3 * value_bytes;
  const std::size_t row_bytes = size.width * pixel_bytes;
  for (std::size_t plane = 0; plane < (planar ? 3U : 1U); ++plane) {
    for (std::size_t y = rect.y; y < rect.y + std::size_t{rect.height}; ++y) {
      work((plane * size.height + y) * row_bytes + rect.x * pixel_bytes, rect.width * pixel_bytes);
    }
  }
}

/// The rectangle that CutMix takes for a share drawn for the sample itself, clipped at the edges.
Rect cut_box(ImageSize size, double share, RandomStream& random) {
  const auto center_x = static_cast<std::int64_t>(random.below(size.width));
  const auto center_y = static_cast<std::int64_t>(random.below(size.height));
  const double half = 0.5 * std::sqrt(1.0 - share);
  const auto half_width = static_cast<std::int64_t>(half * size.width);
  const auto half_height = static_cast<std::int64_t>(half * size.height);
  const auto side = [](std::int64_t center, std::int64_t reach, std::int64_t length) {
    const std::int64_t begin = std::max<std::int64_t>(center - reach, 0);
    return std::pair(static_cast<std::uint32_t>(begin),
                     static_cast<std::uint32_t>(std::min(center + reach, length) - begin));
  };
  const auto [x, width] = side(center_x, half_width, size.width);
  const auto [y, height] = side(center_y, half_height, size.height);
  return {x, y, width, height};
}

}  // namespace

BatchMixer::BatchMixer(Mixing mixing, DType dtype, Layout layout, ImageSize size, std::uint32_t classes)
    : mixing_(std::move(mixing)), dtype_(dtype), layout_(layout), size_(size), classes_(classes) {
  if (mixing_.empty()) throw Error(ErrorCode::invalid_argument, "there is no way of mixing batches");
  if (classes == 0)
    throw Error(ErrorCode::invalid_argument, "MixUp and CutMix need to know how many classes there are");
}

Mix BatchMixer::draw(std::uint64_t key, std::uint64_t position) const {
  RandomStream random(key, position, 0);
  const auto& chosen = mixing_[mixing_.size() == 1 ? 0 : random.below(mixing_.size())];
  const auto [alpha, probability] =
      std::visit([](const auto& mixing) { return std::pair(mixing.alpha, mixing.probability); }, chosen);
  if (random.uniform() >= probability) return {};
  const double share = symmetric_beta(random, alpha);
  if (std::holds_alternative<MixUp>(chosen)) return {Mix::Kind::blend, share, {}};
  const Rect box = cut_box(size_, share, random);
  const double area = static_cast<double>(box.width) * box.height;
  return {Mix::Kind::paste, 1.0 - area / (static_cast<double>(size_.width) * size_.height), box};
}

void BatchMixer::mix_images(const Mix& mix, std::byte* images, std::uint32_t count, const std::byte* previous) const {
  if (mix.kind == Mix::Kind::none || count == 0) return;
  const std::size_t value_bytes = size_of(dtype_);
  const std::size_t image_bytes = std::size_t{size_.height} * size_.width * 3 * value_bytes;
  const bool blends = mix.kind == Mix::Kind::blend;
  // The runs of bytes of an image that change.
  const auto for_each_own_run = [&](auto work) {
    if (blends) {
      work(std::size_t{0}, image_bytes);
    } else {
      for_each_run(mix.pasted, size_, layout_, value_bytes, work);
    }
  };
  const auto own_share = static_cast<float>(mix.share);
  const auto other_share = static_cast<float>(1.0 - mix.share);
  const auto mix_run = [&](std::byte* own, const std::byte* other, std::size_t bytes) {
    if (blends) {
      blend_values(dtype_, own, other, bytes / value_bytes, own_share, other_share);
    } else {
      std::memcpy(own, other, bytes);
    }
  };

  ByteBuffer saved;
  if (previous == nullptr) {
    const std::byte* const last = images + (count - 1) * image_bytes;
    std::byte* const copy = saved.resize(image_bytes).data();
    for_each_own_run([&](std::size_t at, std::size_t bytes) { std::memcpy(copy + at, last + at, bytes); });
    previous = copy;
  }
  for (std::size_t i = count; i-- > 0;) {  // from the last on: the predecessor is still as it was
    std::byte* const own = images + i * image_bytes;
    const std::byte* const other = i == 0 ? previous : own - image_bytes;
    for_each_own_run([&](std::size_t at, std::size_t bytes) { mix_run(own + at, other + at, bytes); });
  }
}

void BatchMixer::mix_labels(const Mix& mix, std::span<const std::int64_t> labels, std::int64_t previous_label,
                            std::span<float> out) const {
  const auto column = [this](std::int64_t label) {
    if (label >= 0 && label < classes_) return static_cast<std::size_t>(label);
    throw Error(ErrorCode::invalid_argument, label == kNoLabel
                                                 ? "MixUp and CutMix need labels, and a record has none"
                                                 : fmt::format("label {} is not one of {} classes", label, classes_));
  };
  std::fill(out.begin(), out.end(), 0.0F);
  const bool mixes = mix.kind != Mix::Kind::none;
  const auto own_share = static_cast<float>(mix.share);
  const auto other_share = static_cast<float>(1.0 - mix.share);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    float* const row = out.data() + i * classes_;
    const std::size_t own = column(labels[i]);
    const std::size_t other = mixes ? column(i == 0 ? previous_label : labels[i - 1]) : own;
    row[own] = mixes ? own_share : 1;
    if (mixes) row[other] += other_share;
  }
}

}  // namespace imgpack
