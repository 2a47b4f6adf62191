// A CUDA device as a staging ring sees it.
#pragma once

#include <deque>
#include <mutex>

#include "reader/gpu/cuda_handles.h"
#include "reader/gpu/staging_ring.h"

namespace imgpack::gpu {

class CudaStagingPort final : public StagingPort {
 public:
  /// Copies are queued on `stream`, which is the device's.
  CudaStagingPort(int device, cudaStream_t stream) : device_(device), stream_(stream) {}
  /// Waits for the copies.
  ~CudaStagingPort() override;

  std::shared_ptr<std::byte> allocate_host(std::size_t bytes) override;
  std::shared_ptr<std::byte> allocate_device(std::size_t bytes) override;
  void send(std::size_t chunk, const std::byte* host, std::byte* device, std::size_t bytes) override;
  bool is_sent(std::size_t chunk) override;
  void wait(std::size_t chunk) override;

 private:
  template <class Owner>
  std::shared_ptr<std::byte> freed_in_scope(std::shared_ptr<Owner> owner, std::byte* data) const;
  /// Of a chunk; stays where it is. REQUIRES: a scope of the device.
  const Event& event(std::size_t chunk);

  const int device_;
  const cudaStream_t stream_;
  std::mutex mutex_;  ///< of what follows
  std::deque<Event> events_;
};

}  // namespace imgpack::gpu
