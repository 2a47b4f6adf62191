// From a SamplePlan's stage to the task that a device can carry out. No CUDA here.
#pragma once

#include "codec/image.h"
#include "reader/augment/sample_plan.h"
#include "reader/gpu/program/stage_task.h"

namespace imgpack::gpu {

/// Sets everything of `task` but its addresses, and the source's kind. The result depends on `stage` alone.
void plan_stage(const PlanStage& stage, StageTask& task);

/// The pixels of the source that a planned stage depends on; empty if it shows none of it.
Rect source_part(const StageTask& task) noexcept;

/// Whether the host has to compute the numbers of an axis: filters with sines.
bool needs_host(const AxisTable& axis) noexcept;

/// Computes them. REQUIRES: needs_host(axis); `numbers` has room for axis.size().
void compute_axis(const AxisTable& axis, std::uint32_t* numbers);

}  // namespace imgpack::gpu
