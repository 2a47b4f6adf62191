// Images that are made together: the lists of work of each kernel, and their launches in order.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/gpu/image_plan.h"
#include "reader/gpu/kernels/finish_image.h"
#include "reader/gpu/kernels/jpeg_kernels.h"
#include "reader/gpu/kernels/value_tables.h"
#include "reader/gpu/program/work_list.h"
#include "reader/gpu/program_buffer.h"

namespace imgpack::gpu {

/// Not thread-safe. Keeps the memory of its lists from wave to wave.
class Wave {
 public:
  void reset();
  /// Adds an image of ImagePath::jpeg or pixels, whose tasks are complete.
  void add(const ImagePlan& image, const JpegTask& jpeg, std::uint32_t jpeg_number);
  /// Axes that the host computes go into the program as well. Before ProgramBuffer::settle(); afterwards patch().
  void write(ProgramBuffer& program);
  void patch(const ProgramBuffer& program);
  /// Queues everything. `left`: room for all segments and a count; `damaged`: by sample. Throws io.
  void launch(const ProgramBuffer& program, const JpegTask* jpegs, const BatchValues& values, LeftSegments left,
              std::uint32_t* damaged, cudaStream_t stream);

 private:
  /// The stages of one number, of all images that have it.
  struct Depth {
    WorkList horizontal;
    WorkList vertical;
    std::vector<FinishTask> finishes;
    ProgramBuffer::Place horizontal_place, vertical_place, finishes_place;
  };

  void add_stage(const StageTask& stage, std::size_t depth, const std::vector<ColorOp>* colors);

  WorkList unstuff_;
  WorkList entropy_;
  WorkList inverse_;
  std::vector<StageTask> stages_;
  std::vector<ColorOp> ops_;
  std::vector<Depth> depths_;
  std::size_t depth_count_ = 0;
  std::vector<std::uint32_t> axis_numbers_;  ///< of axes that the host has computed
  ProgramBuffer::Place unstuff_place_, entropy_place_, inverse_place_, stages_place_, ops_place_, numbers_place_;
};

}  // namespace imgpack::gpu
