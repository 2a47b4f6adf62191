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
  return allocate_pinned(bytes);
}

std::shared_ptr<std::byte> CudaStagingPort::allocate_device(std::size_t bytes) {
  const DeviceScope scope(device_);
  auto buffer = std::make_shared<DeviceBuffer>(bytes);
  std::byte* const data = buffer->data();
  return {std::move(buffer), data};
}

void CudaStagingPort::send(std::size_t chunk, const std::byte* host, std::byte* device, std::size_t bytes) {
  const DeviceScope scope(device_);
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream_), "copying records");
  event(chunk).record(stream_);
}

bool CudaStagingPort::is_sent(std::size_t chunk) {
  const cudaError_t status = cudaEventQuery(event(chunk).get());
  if (status == cudaErrorNotReady) {
    (void)cudaGetLastError();  // no error, and not to be taken for one later
    return false;
  }
  check(status, "asking for an event");
  return true;
}

void CudaStagingPort::wait(std::size_t chunk) {
  event(chunk).synchronize();
}

const Event& CudaStagingPort::event(std::size_t chunk) {
  const std::lock_guard lock(mutex_);
  if (chunk >= events_.size()) {
    const DeviceScope scope(device_);
    while (chunk >= events_.size()) events_.push_back(Event::create());
  }
  return events_[chunk];
}

}  // namespace imgpack::gpu
