// The memory of a batch on a CUDA device.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "reader/gpu/cuda_handles.h"
#include "reader/pipeline/batch_device.h"
#include "reader/pipeline/batch_format.h"

namespace imgpack::gpu {

class CudaMemory final : public DeviceMemory {
 public:
  /// Throws out_of_memory, io.
  CudaMemory(int device, const BatchFormat& format, std::uint32_t size, std::uint32_t room);

  ~CudaMemory() override;

  void use_on(void* stream) override;
  void release() noexcept override;

  /// Makes `stream` (of any device) wait until the consumer's work is done that release() has noted. Throws io.
  void wait_for_release(cudaStream_t stream);

 private:
  int device_;
  DeviceBuffer buffer_;
  std::mutex mutex_;  ///< of what follows
  std::vector<cudaStream_t> streams_;
  std::vector<Event> released_;
  std::size_t released_count_ = 0;
  bool unfenced_ = false;  ///< an event could not be recorded: the next user waits for the device
};

}  // namespace imgpack::gpu
