#include "reader/gpu/cuda_check.h"

#include <fmt/format.h>

#include "imgpack/error.h"

namespace imgpack::gpu {

void throw_cuda_error(cudaError_t status, const char* what) {
  (void)cudaGetLastError();  // one that does not stick is over once it has been told
  const ErrorCode code = status == cudaErrorMemoryAllocation ? ErrorCode::out_of_memory : ErrorCode::io;
  throw Error(code, fmt::format("CUDA, {}: {} ({})", what, cudaGetErrorString(status), cudaGetErrorName(status)));
}

}  // namespace imgpack::gpu
