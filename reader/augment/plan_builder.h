// Puts steps with known parameters into as few stages of a plan as can be without changing a single pixel.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "reader/augment/sample_plan.h"

namespace imgpack {

class PlanBuilder {
 public:
  /// Begins with an image of that size, 1x1 at least. `memory` is used for the stages; what is in it is dropped.
  explicit PlanBuilder(Size source, std::vector<PlanStage> memory = {}) : stages_(std::move(memory)) {
    stages_.clear();
    begin_stage(source);
  }

  /// Of the image after the steps so far.
  Size size() const noexcept { return stage().canvas.size; }

  /// Pixels [left, left + width) x [top, top + height) of the image, which may lie outside: there is `fill` then.
  void window(const Canvas& window);
  /// The whole image becomes `size`.
  void resize(Size size, Interpolation interpolation);
  void flip() noexcept { stage().flip = !stage().flip; }
  void color(ColorOp op) { stage().colors.push_back(op); }

  std::vector<PlanStage> take() && { return std::move(stages_); }

 private:
  PlanStage& stage() noexcept { return stages_.back(); }
  const PlanStage& stage() const noexcept { return stages_.back(); }
  void begin_stage(Size source);

  std::vector<PlanStage> stages_;
};

}  // namespace imgpack
