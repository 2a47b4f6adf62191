#include "reader/augment/augmenter.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "codec/resize/resizer.h"
#include "codec/resize/torchvision_size.h"
#include "reader/augment/draws.h"
#include "reader/augment/plan_builder.h"
#include "reader/random/random_stream.h"

namespace imgpack {

namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

Size size_of_image(ImageSize size) {
  return {size.width, size.height};
}

/// A step's random numbers are named by its kind and by how many of that kind come before it, so that adding a step
/// does not change what others draw. Kinds are numbered as in the variant, to which new ones are appended.
std::uint32_t operation_of(const Augmentation& step, std::uint32_t number_of_kind) {
  return static_cast<std::uint32_t>(step.index()) << 16 | number_of_kind;
}

/// What Resize makes of an image, or why it can't.
std::variant<Size, std::string> resized(const Resize& step, Size source) {
  if (step.shorter == 0) return size_of_image(step.size);
  const bool by_width = source.width <= source.height;
  const std::uint64_t other = by_width ? proportional_side(source.height, source.width, step.shorter)
                                       : proportional_side(source.width, source.height, step.shorter);
  if (other > ImageSize::kMaxSide) {
    return fmt::format("Resize of an image of {}x{} pixels, too narrow to make one side {}", source.width,
                       source.height, step.shorter);
  }
  const auto side = static_cast<std::uint32_t>(other);
  return by_width ? Size{step.shorter, side} : Size{side, step.shorter};
}

/// Where a central crop of `wanted` pixels begins in `side`; outside where that is shorter.
std::int32_t central_begin(std::uint32_t wanted, std::uint32_t side) {
  return wanted > side ? -static_cast<std::int32_t>((wanted - side) / 2)
                       : static_cast<std::int32_t>(centered_margin(side - wanted));
}

/// Plans one sample, step after step. A step that can't be applied sets `problem`.
class Planner {
 public:
  Planner(std::uint64_t key, std::uint64_t record, Size source, SamplePlan memory)
      : builder_(source, std::move(memory.stages)), erasings_(std::move(memory.erasings)), key_(key), record_(record) {
    erasings_.clear();
  }

  void apply(const Augmentation& step, std::uint32_t operation) {
    operation_ = operation;
    RandomStream random(key_, record_, operation);
    std::visit([&](const auto& known) { apply(known, random); }, step);
  }
  const std::string& problem() const { return problem_; }
  SamplePlan take() && { return {std::move(builder_).take(), std::move(erasings_)}; }

 private:
  void apply(const RandomResizedCrop& step, RandomStream& random) {
    const Rect part = draw_resized_crop(step, builder_.size(), random);
    builder_.window({static_cast<std::int32_t>(part.x), static_cast<std::int32_t>(part.y), {part.width, part.height}});
    resize(size_of_image(step.size), step.interpolation);
  }
  void apply(const Resize& step, RandomStream&) {
    auto size = resized(step, builder_.size());
    if (std::string* reason = std::get_if<std::string>(&size)) {
      problem_ = std::move(*reason);
    } else {
      resize(std::get<Size>(size), step.interpolation);
    }
  }
  void apply(const CenterCrop& step, RandomStream&) {
    const auto [width, height] = builder_.size();
    builder_.window(
        {central_begin(step.size.width, width), central_begin(step.size.height, height), size_of_image(step.size)});
  }
  void apply(const RandomCrop& step, RandomStream& random);
  void apply(const HorizontalFlip& step, RandomStream& random) {
    if (random.uniform() < step.probability) builder_.flip();
  }
  void apply(const ColorJitter& step, RandomStream& random) {
    for (const ColorOp& op : draw_color_ops(step, random)) builder_.color(op);
  }
  void apply(const Grayscale& step, RandomStream& random) {
    if (random.uniform() < step.probability) builder_.color({ColorOp::Kind::grayscale, 1});
  }
  void apply(const RandomErasing& step, RandomStream& random) {
    if (random.uniform() >= step.probability) return;
    if (const auto rect = draw_erased_rect(step, builder_.size(), random)) {
      erasings_.push_back({*rect, step.value, step.noise, key_, record_, operation_});
    }
  }
  void apply(const Normalize&, RandomStream&) {}
  void apply(const MixUp&, RandomStream&) {}
  void apply(const CutMix&, RandomStream&) {}

  void resize(Size size, Interpolation interpolation) {
    const Size from = builder_.size();
    if (std::max(from.width, from.height) > kMaxResizeSide) {
      problem_ = fmt::format("no side may have more than {} pixels to be resized, and one of {}x{} does",
                             kMaxResizeSide, from.width, from.height);
      return;
    }
    builder_.resize(size, interpolation);
  }

  PlanBuilder builder_;
  std::vector<Erasing> erasings_;
  std::string problem_;
  std::uint64_t key_;
  std::uint64_t record_;
  std::uint32_t operation_ = 0;
};

void Planner::apply(const RandomCrop& step, RandomStream& random) {
  // What is added on either side, and the side with it.
  const auto padded = [&step](std::uint32_t side, std::uint32_t wanted) {
    const std::uint32_t with_padding = side + 2 * step.padding;
    const std::uint32_t more = step.pad_if_needed && with_padding < wanted ? wanted - with_padding : 0;
    return std::pair(step.padding + more, with_padding + 2 * more);
  };
  const auto [width, height] = builder_.size();
  const auto [left, padded_width] = padded(width, step.size.width);
  const auto [top, padded_height] = padded(height, step.size.height);
  if (padded_width < step.size.width || padded_height < step.size.height) {
    problem_ = fmt::format("RandomCrop of {}x{} pixels from an image of {}x{}", step.size.width, step.size.height,
                           padded_width, padded_height);
    return;
  }
  const auto y = static_cast<std::int64_t>(random.below(padded_height - step.size.height + 1));
  const auto x = static_cast<std::int64_t>(random.below(padded_width - step.size.width + 1));
  builder_.window(
      {static_cast<std::int32_t>(x - left), static_cast<std::int32_t>(y - top), size_of_image(step.size), step.fill});
}

}  // namespace

Augmenter::Augmenter(std::vector<Augmentation> steps, DType dtype, Layout layout)
    : steps_(std::move(steps)), format_{dtype, layout} {
  check_augmentations(steps_, dtype);
  std::array<std::uint32_t, std::variant_size_v<Augmentation>> seen{};
  for (const Augmentation& step : steps_) {
    operations_.push_back(operation_of(step, seen[step.index()]++));
    if (const auto* normalize = std::get_if<Normalize>(&step)) format_.normalize = *normalize;
    if (const auto* mix_up = std::get_if<MixUp>(&step)) mixing_.emplace_back(*mix_up);
    if (const auto* cut_mix = std::get_if<CutMix>(&step)) mixing_.emplace_back(*cut_mix);
  }
}

std::optional<ImageSize> Augmenter::output_size() const noexcept {
  std::optional<ImageSize> size;
  const auto follow = Overloaded{
      [&](const RandomResizedCrop& step) { size = step.size; },
      [&](const CenterCrop& step) { size = step.size; },
      [&](const RandomCrop& step) { size = step.size; },
      [&](const Resize& step) {
        if (step.shorter == 0) {
          size = step.size;
        } else if (size) {
          const auto result = resized(step, size_of_image(*size));
          const Size* known = std::get_if<Size>(&result);
          size = known ? std::optional(ImageSize{known->height, known->width}) : std::nullopt;
        }
      },
      [](const auto&) {},
  };
  for (const Augmentation& step : steps_) std::visit(follow, step);
  return size;
}

std::optional<ImageSize> Augmenter::output_size(Size source) const {
  if (source.width == 0 || source.height == 0) return std::nullopt;
  const auto planned = plan(0, 0, source);
  const SamplePlan* sample = std::get_if<SamplePlan>(&planned);  // sizes do not depend on what is drawn
  return sample ? std::optional(ImageSize{sample->size().height, sample->size().width}) : std::nullopt;
}

std::variant<SamplePlan, std::string> Augmenter::plan(std::uint64_t key, std::uint64_t record, Size source) const {
  SamplePlan planned;
  if (std::optional<std::string> reason = plan(key, record, source, planned)) return *std::move(reason);
  return planned;
}

std::optional<std::string> Augmenter::plan(std::uint64_t key, std::uint64_t record, Size source,
                                           SamplePlan& out) const {
  if (source.width == 0 || source.height == 0) return "it has no pixels";
  Planner planner(key, record, source, std::move(out));
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    planner.apply(steps_[i], operations_[i]);
    if (!planner.problem().empty()) return planner.problem();
  }
  out = std::move(planner).take();
  return std::nullopt;
}

}  // namespace imgpack
