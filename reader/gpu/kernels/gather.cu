#include "reader/gpu/kernels/gather.h"

#include <algorithm>

#include "reader/gpu/cuda_check.h"
#include "reader/gpu/kernels/gather_copy.cuh"
#include "reader/gpu/kernels/launch.h"
#include "reader/gpu/kernels/start.cuh"

namespace imgpack::gpu {

namespace {

__global__ void __launch_bounds__(kGatherThreads)
    gather_kernel(const GatherRange* ranges, const GatherPiece* pieces, std::uint32_t count) {
  for (std::uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
    const GatherPiece piece = pieces[i];
    const GatherRange range = ranges[piece.range];
    copy_units(range.source, range.destination, range.bytes, piece.first_unit, piece.first_unit + piece.units);
  }
}

}  // namespace

unsigned persistent_blocks(int wanted, std::uint64_t items) {
  if (wanted <= 0) {
    int device = 0;
    check(cudaGetDevice(&device), "asking for the current device");
    check(cudaDeviceGetAttribute(&wanted, cudaDevAttrMultiProcessorCount, device), "asking for a device's attribute");
    wanted *= 2;
  }
  return static_cast<unsigned>(std::min<std::uint64_t>(static_cast<std::uint64_t>(wanted), items));
}

void launch_gather(const GatherRange* ranges, const GatherPiece* pieces, std::uint32_t count, cudaStream_t stream,
                   int blocks) {
  if (count == 0) return;
  start("gathering bytes", gather_kernel, persistent_blocks(blocks, count), kGatherThreads, stream, ranges, pieces,
        count);
}

}  // namespace imgpack::gpu
