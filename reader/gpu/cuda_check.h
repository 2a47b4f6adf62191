// CUDA's errors as ours.
#pragma once

#include <cuda_runtime_api.h>

namespace imgpack::gpu {

/// Throws out_of_memory or io with CUDA's words, and `what` was being done.
[[noreturn]] void throw_cuda_error(cudaError_t status, const char* what);

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) [[unlikely]] {
    throw_cuda_error(status, what);
  }
}

}  // namespace imgpack::gpu
