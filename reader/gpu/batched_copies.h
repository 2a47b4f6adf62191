// Copies of many pieces to the device by its copy engines, queued by one call: they use more of the bus than kernels
// that read over it, and no multiprocessor (docs/gpu.md).
#pragma once

#include <cstddef>
#include <vector>

#include <cuda_runtime_api.h>

namespace imgpack::gpu {

/// Whether the driver takes the copies of a batch by one call. Throws io.
bool has_batched_copies();

/// Not thread-safe. REQUIRES: has_batched_copies().
class BatchedCopies {
 public:
  void clear() noexcept;
  /// `source`: registered, within one window, or pinned; it has to stay until the copy is done.
  void add(const std::byte* source, std::byte* destination, std::size_t bytes);
  bool empty() const noexcept { return sources_.empty(); }
  /// Throws io.
  void queue(cudaStream_t stream);

 private:
  std::vector<const void*> sources_;
  std::vector<void*> destinations_;
  std::vector<std::size_t> sizes_;
};

}  // namespace imgpack::gpu
