// How kernels are started. Device code only; in tests/cuda_on_host the host runs them.
#pragma once

#include <type_traits>

#include <cuda_runtime_api.h>

#include "reader/gpu/cuda_check.h"

namespace imgpack::gpu {

/// Throws io, saying `what` was being done.
template <class... Parameters>
void start(const char* what, void (*kernel)(Parameters...), dim3 blocks, unsigned threads, cudaStream_t stream,
           std::type_identity_t<Parameters>... arguments) {
  kernel<<<blocks, threads, 0, stream>>>(arguments...);
  check(cudaGetLastError(), what);
}

}  // namespace imgpack::gpu
