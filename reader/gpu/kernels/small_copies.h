// Copies of little data by a kernel, which reads pinned host memory itself: the copy engines would do them behind the
// records that they are bringing.
#pragma once

#include <cstddef>
#include <span>

#include <cuda_runtime_api.h>

namespace imgpack::gpu {

struct SmallCopy {
  const void* source = nullptr;  ///< in pinned or device memory
  void* destination = nullptr;   ///< on the current device
  std::size_t bytes = 0;
};

inline constexpr std::size_t kMostSmallCopies = 3;  // of one launch

/// REQUIRES: at most kMostSmallCopies; addresses are multiples of 16. Sources must stay as they are until the kernel
/// has ended. Throws io.
void launch_small_copies(std::span<const SmallCopy> copies, cudaStream_t stream);

}  // namespace imgpack::gpu
