// Predecoded pixels from host memory into a batch, in one kernel: crop, canvas, flip, conversion.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "codec/image.h"
#include "reader/gpu/kernels/value_tables.h"
#include "reader/gpu/raw_task.h"

namespace imgpack::gpu {

/// Writes `count` images, bit for bit what SampleMaker makes. Only the 16-byte blocks that hold a needed pixel are
/// read, each about once. `tasks` is read by the device: device memory is best. Neither it nor the sources may change
/// before the kernel has ended.
///
/// `max_canvas`: no canvas is wider or higher; the nearer, the better the work is divided. `blocks`: of 256 threads,
/// at most, each with up to 32 KiB under way; 0: two for each multiprocessor, which leaves room for other kernels
/// beside them. Throws io.
void launch_raw_images(const RawTask* tasks, std::uint32_t count, Size max_canvas, const BatchValues& values,
                       cudaStream_t stream, int blocks = 0);

}  // namespace imgpack::gpu
