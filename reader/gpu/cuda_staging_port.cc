#include "reader/gpu/cuda_staging_port.h"

#include <utility>

#include "reader/gpu/cuda_check.h"

namespace imgpack::gpu {

CudaStagingPort::~CudaStagingPort() {
  try {
    check(cudaStreamSynchronize(stream_), "waiting for a stream");
  } catch (...) {  // the device is lost, and nothing runs on it any more
  }
}

std::shared_ptr<std::byte> CudaStagingPort::allocate_host(std::size_t bytes) {
  const DeviceScope scope(device_);
  std::shared_ptr<std::byte> memory = allocate_pinned(bytes);
  std::byte* const data = memory.get();
  return freed_in_scope(std::move(memory), data);
}

std::shared_ptr<std::byte> CudaStagingPort::allocate_device(std::size_t bytes) {
  const DeviceScope scope(device_);
  auto buffer = std::make_shared<DeviceBuffer>(bytes);
  std::byte* const data = buffer->data();
  return freed_in_scope(std::move(buffer), data);
}

/// `data` of `owner`, which is let go of within a scope: without it, freeing memory would end another thread's capture
/// of a CUDA graph.
template <class Owner>
std::shared_ptr<std::byte> CudaStagingPort::freed_in_scope(std::shared_ptr<Owner> owner, std::byte* data) const {
  return {data, [device = device_, owner = std::move(owner)](std::byte*) mutable {
            try {
              const DeviceScope scope(device);
              owner.reset();
            } catch (...) {  // the device is lost
            }
          }};
}

void CudaStagingPort::send(std::size_t chunk, const std::byte* host, std::byte* device, std::size_t bytes) {
  const DeviceScope scope(device_);
  const Event& sent = event(chunk);  // before anything is queued that could not be waited for
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream_), "copying records");
  sent.record(stream_);
}

bool CudaStagingPort::is_sent(std::size_t chunk) {
  const DeviceScope scope(device_);
  const cudaError_t status = cudaEventQuery(event(chunk).get());
  if (status == cudaErrorNotReady) {
    (void)cudaGetLastError();  // no error, and not to be taken for one later
    return false;
  }
  check(status, "asking for an event");
  return true;
}

void CudaStagingPort::wait(std::size_t chunk) {
  const DeviceScope scope(device_);
  event(chunk).synchronize();
}

const Event& CudaStagingPort::event(std::size_t chunk) {
  const std::lock_guard lock(mutex_);
  while (chunk >= events_.size()) events_.push_back(Event::create());
  return events_[chunk];
}

}  // namespace imgpack::gpu
