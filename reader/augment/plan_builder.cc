#include "reader/augment/plan_builder.h"

#include <algorithm>

namespace imgpack {

namespace {

/// Where a side that shows [begin, begin + length) of [0, size) needs pixels from; one pixel where it shows none.
struct Span {
  std::uint32_t begin;
  std::uint32_t length;
};

Span needed(std::int32_t begin, std::uint32_t length, std::uint32_t size) {
  const std::int64_t first = std::clamp<std::int64_t>(begin, 0, std::int64_t{size} - 1);
  const std::int64_t end = std::clamp<std::int64_t>(std::int64_t{begin} + length, first + 1, size);
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first)};
}

/// What a canvas does not show need not be decoded.
void shrink_crop(PlanStage& stage) {
  Canvas& canvas = stage.canvas;
  const Span columns = needed(canvas.left, canvas.size.width, stage.crop.width);
  const Span rows = needed(canvas.top, canvas.size.height, stage.crop.height);
  stage.crop = {stage.crop.x + columns.begin, stage.crop.y + rows.begin, columns.length, rows.length};
  stage.scaled = {columns.length, rows.length};
  canvas.left -= static_cast<std::int32_t>(columns.begin);
  canvas.top -= static_cast<std::int32_t>(rows.begin);
}

/// Whether the canvas shows all pixels of the image.
bool covers(const Canvas& canvas, Size image) {
  return canvas.left <= 0 && canvas.top <= 0 && std::int64_t{canvas.left} + canvas.size.width >= image.width &&
         std::int64_t{canvas.top} + canvas.size.height >= image.height;
}

}  // namespace

void PlanBuilder::begin_stage(Size source) {
  stages_.push_back({.crop = {0, 0, source.width, source.height}, .scaled = source, .canvas = {.size = source}});
}

void PlanBuilder::window(const Canvas& window) {
  if (window.left == 0 && window.top == 0 && window.size == size()) return;
  const bool inside = window.lies_in(size());
  const auto can_extend = [&] {
    const Canvas& canvas = stage().canvas;
    return inside || (covers(canvas, stage().scaled) && (!stage().pads() || canvas.fill == window.fill));
  };
  if (!stage().colors.empty() || !can_extend()) begin_stage(size());
  Canvas& canvas = stage().canvas;
  const std::int32_t left =
      stage().flip ? static_cast<std::int32_t>(std::int64_t{size().width} - window.left - window.size.width)
                   : window.left;
  canvas.left += left;
  canvas.top += window.top;
  canvas.size = window.size;
  if (!inside) canvas.fill = window.fill;
  if (!stage().resizes()) shrink_crop(stage());
}

void PlanBuilder::resize(Size size, Interpolation interpolation) {
  if (size == this->size()) return;
  const PlanStage& last = stage();
  if (last.resizes() || last.pads() || last.flip || !last.colors.empty()) begin_stage(this->size());
  stage().scaled = size;
  stage().interpolation = interpolation;
  stage().canvas = {.size = size};
}

}  // namespace imgpack
