#include "reader/gpu/wave.h"

#include <utility>

#include "reader/gpu/cuda_check.h"
#include "reader/gpu/kernels/resample_kernels.h"

namespace imgpack::gpu {

void Wave::reset() {
  unstuff_.clear();
  entropy_.clear();
  inverse_.clear();
  stages_.clear();
  ops_.clear();
  axis_numbers_.clear();
  for (Depth& depth : depths_) {
    depth.horizontal.clear();
    depth.vertical.clear();
    depth.finishes.clear();
  }
  depth_count_ = 0;
}

void Wave::add(const ImagePlan& image, const JpegTask& jpeg, std::uint32_t jpeg_number) {
  if (image.path == ImagePath::jpeg) {
    unstuff_.add(jpeg_number, ceil_div(jpeg.segments(), kUnstuffSegments));
    entropy_.add(jpeg_number, ceil_div(jpeg.segments(), kEntropySegments));
    std::uint32_t groups = 0;
    for (std::uint32_t c = 0; c < jpeg.index.frame.component_count; ++c) groups += jpeg.block_groups(c);
    inverse_.add(jpeg_number, ceil_div(groups, kInverseGroups));
  }
  for (std::size_t i = 0; i < image.stages.size(); ++i) {
    add_stage(image.stages[i], i, image.has_colors(i) ? &image.colors[i] : nullptr);
  }
}

void Wave::add_stage(const StageTask& stage, std::size_t depth, const std::vector<ColorOp>* colors) {
  if (depth == depths_.size()) depths_.emplace_back();
  if (depth >= depth_count_) depth_count_ = depth + 1;
  Depth& at = depths_[depth];
  const auto number = static_cast<std::uint32_t>(stages_.size());
  StageTask& added = stages_.emplace_back(stage);
  for (AxisTable* axis : {&added.columns, &added.rows}) {
    if (!needs_host(*axis)) continue;
    axis->given = true;
    const std::size_t begin = axis_numbers_.size();
    axis_numbers_.resize(begin + axis->size());
    compute_axis(*axis, axis_numbers_.data() + begin);
  }
  if (added.columns.request.kept != 0) {
    at.horizontal.add(number, ceil_div(stage.row_end - stage.row_begin, kRowsOfPass));
  }
  at.vertical.add(number, ceil_div(stage.height, kRowsOfCanvas));
  if (colors == nullptr) return;
  at.finishes.push_back({.canvas = stage.canvas,
                         .out = stage.out,
                         .width = stage.width,
                         .height = stage.height,
                         .first_op = static_cast<std::uint32_t>(ops_.size()),
                         .op_count = static_cast<std::uint32_t>(colors->size())});
  ops_.insert(ops_.end(), colors->begin(), colors->end());
}

void Wave::write(ProgramBuffer& program) {
  const auto put = [&program](const auto& items) { return program.append(std::span(items)); };
  unstuff_place_ = program.append(unstuff_.entries());
  entropy_place_ = program.append(entropy_.entries());
  inverse_place_ = program.append(inverse_.entries());
  stages_place_ = put(std::as_const(stages_));
  ops_place_ = put(std::as_const(ops_));
  numbers_place_ = put(std::as_const(axis_numbers_));
  for (std::size_t i = 0; i < depth_count_; ++i) {
    Depth& depth = depths_[i];
    depth.horizontal_place = program.append(depth.horizontal.entries());
    depth.vertical_place = program.append(depth.vertical.entries());
    depth.finishes_place = put(std::as_const(depth.finishes));
  }
}

void Wave::patch(const ProgramBuffer& program) {
  if (axis_numbers_.empty()) return;
  auto* numbers = program.device<std::uint32_t>(numbers_place_);
  auto* const stages = program.host<StageTask>(stages_place_);
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    for (AxisTable* axis : {&stages[i].columns, &stages[i].rows}) {
      if (!axis->given) continue;
      axis->numbers = numbers;
      numbers += axis->size();
    }
  }
}

void Wave::launch(const ProgramBuffer& program, const JpegTask* jpegs, const BatchValues& values, LeftSegments left,
                  std::uint32_t* damaged, cudaStream_t stream) {
  const auto* const stages = program.device<StageTask>(stages_place_);
  launch_axes(stages, static_cast<std::uint32_t>(stages_.size()), stream);
  if (!entropy_.empty()) {
    check(cudaMemsetAsync(left.count, 0, sizeof *left.count, stream), "clearing a counter");
    launch_unstuff(jpegs, program.device<Work>(unstuff_place_), unstuff_.size(), stream);
    launch_entropy_decode(jpegs, program.device<Work>(entropy_place_), entropy_.size(), left, stream);
    launch_plain_decode(jpegs, left, damaged, stream);
    launch_inverse_transform(jpegs, program.device<Work>(inverse_place_), inverse_.size(), stream);
  }
  for (std::size_t i = 0; i < depth_count_; ++i) {
    const Depth& depth = depths_[i];
    launch_horizontal_pass(stages, jpegs, program.device<Work>(depth.horizontal_place), depth.horizontal.size(),
                           stream);
    launch_vertical_pass(stages, program.device<Work>(depth.vertical_place), depth.vertical.size(), values, stream);
    finish_images(program.device<FinishTask>(depth.finishes_place), static_cast<std::uint32_t>(depth.finishes.size()),
                  program.device<ColorOp>(ops_place_), values, stream);
  }
}

}  // namespace imgpack::gpu
