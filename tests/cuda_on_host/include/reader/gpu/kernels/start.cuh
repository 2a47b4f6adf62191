// In the place of the header for devices: kernels run when their stream comes to them, block by block.
#pragma once

#include <type_traits>

#include <cuda_pipeline_primitives.h>
#include <cuda_runtime_api.h>

#include "reader/gpu/cuda_check.h"
#include "reader/gpu/kernels/shared_address.cuh"

namespace imgpack::gpu {

template <class... Parameters>
void start(const char* what, void (*kernel)(Parameters...), dim3 blocks, unsigned threads, cudaStream_t stream,
           std::type_identity_t<Parameters>... arguments) {
  check(testing::check_launch(blocks, threads, stream), what);
  testing::queue(stream, [=] {
    testing::run_blocks(blocks.x * blocks.y, threads, [&](unsigned block, unsigned thread) {
      threadIdx = {thread, 0, 0};
      blockIdx = {block % blocks.x, block / blocks.x, 0};
      gridDim = blocks;
      kernel(arguments...);
      pending_copies().clear();
      testing::pipeline_groups().assign(1, {});
    });
  });
}

}  // namespace imgpack::gpu
