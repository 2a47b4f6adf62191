// Bytes from host memory into device memory by a kernel: many ranges at once, without the CPU, at the speed of the bus.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "reader/gpu/gather_pieces.h"

namespace imgpack::gpu {

/// Copies `count` pieces of ranges. Of sources, only the 16-byte blocks that hold a byte of a range are read; of
/// destinations, only the ranges' bytes are written. `ranges` and `pieces` are read by the device: device memory is
/// best. Neither they nor the sources may change before the kernel has ended.
///
/// `blocks`: of 256 threads, at most, each with up to 32 KiB under way; 0: two for each multiprocessor, which leaves
/// room for other kernels beside them. Throws io.
void launch_gather(const GatherRange* ranges, const GatherPiece* pieces, std::uint32_t count, cudaStream_t stream,
                   int blocks = 0);

}  // namespace imgpack::gpu
