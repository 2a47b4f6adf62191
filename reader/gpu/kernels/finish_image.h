// The last steps to an image in the batch: operations on colors, then dtype, layout and Normalize. Bit for bit what
// apply_color() and PixelConverter make.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "reader/augment/sample_plan.h"
#include "reader/gpu/kernels/value_tables.h"

namespace imgpack::gpu {

/// One image. All pointers are the device's.
struct FinishTask {
  std::uint8_t* canvas;  ///< packed RGB without gaps, aligned to 4 bytes
  std::byte* out;        ///< where the image begins in the batch, aligned to its dtype; the canvas is scratch then.
                         ///< nullptr: operations on colors only, in place
  std::uint32_t width;   ///< pixels, > 0
  std::uint32_t height;
  std::uint32_t first_op;  ///< operations [first_op, first_op + op_count) of the launch, in their order
  std::uint32_t op_count;
};

/// Queues the work on `count` tasks. `tasks` and `ops` are the device's and, as images and tables, have to stay until
/// it is done; no two tasks share memory. Throws io.
void finish_images(const FinishTask* tasks, std::uint32_t count, const ColorOp* ops, const BatchValues& values,
                   cudaStream_t stream);

}  // namespace imgpack::gpu
