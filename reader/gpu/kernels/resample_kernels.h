// From samples or pixels to canvases and batches: the two passes of a StageTask.
//
// All launches are asynchronous and throw io. Arrays are in device memory; `work` has one entry a block.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "imgpack/batch.h"
#include "reader/gpu/program/jpeg_task.h"
#include "reader/gpu/program/stage_task.h"
#include "reader/gpu/program/work.h"
#include "reader/gpu/value_lut.h"

namespace imgpack::gpu {

/// Computes the axes that the host has not given, two a task: part 0 columns, part 1 rows.
void launch_axes(const StageTask* stages, std::uint32_t count, cudaStream_t stream);

void launch_horizontal_pass(const StageTask* stages, const JpegTask* jpegs, const Work* work, std::uint32_t blocks,
                            cudaStream_t stream);

/// Canvases as 8-bit RGB, or in the batch as values of the table's dtype.
void launch_vertical_pass(const StageTask* stages, const Work* work, std::uint32_t blocks, const ValueLut& values,
                          Layout layout, cudaStream_t stream);

}  // namespace imgpack::gpu
