// Bytes of records on their way into device memory by the device's copy engines, all of a batch by one call: they use
// more of the bus than kernels that read the same bytes over it, and no multiprocessor (docs/gpu.md).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <cuda_runtime_api.h>

#include "reader/gpu/cuda_handles.h"

namespace imgpack::gpu {

/// Whether the driver takes the copies of a batch by one call. Throws io.
bool has_batched_copies();

/// Not thread-safe. Keeps its device memory from batch to batch. REQUIRES: has_batched_copies().
class RecordCopies {
 public:
  /// Takes all memory back. Not while the device still uses it.
  void reset() noexcept;
  /// Bytes that the device can reach: registered, or pinned. Returns their offset in memory().
  std::size_t add(std::span<const std::byte> bytes);
  /// Where the bytes will be, of the current device; readable for 16 bytes before and behind each piece. Stays until
  /// the next add(). May wait for `stream`. Throws out_of_memory, io.
  const std::byte* memory(cudaStream_t stream);
  /// Queues the copies; the sources have to stay until they are done. After memory(). Throws io.
  void queue(cudaStream_t stream);

 private:
  std::vector<const void*> sources_;
  std::vector<void*> destinations_;
  std::vector<std::size_t> offsets_;
  std::vector<std::size_t> sizes_;
  std::size_t used_ = 0;
  DeviceBuffer memory_;
};

}  // namespace imgpack::gpu
