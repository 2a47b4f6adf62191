// In the place of the header for devices: kernels are run at once, block by block.
#pragma once

#include <type_traits>

#include <cuda_runtime_api.h>

#include "reader/gpu/kernels/shared_address.cuh"

namespace imgpack::gpu {

template <class... Parameters>
void start(const char*, void (*kernel)(Parameters...), dim3 blocks, unsigned threads, cudaStream_t,
           std::type_identity_t<Parameters>... arguments) {
  testing::HostBlock::run(blocks.x, threads, [&](unsigned block, unsigned thread) {
    threadIdx = {thread, 0, 0};
    blockIdx = {block, 0, 0};
    gridDim = blocks;
    kernel(arguments...);
    pending_copies.clear();
  });
}

}  // namespace imgpack::gpu
