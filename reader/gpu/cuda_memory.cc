#include "reader/gpu/cuda_memory.h"

#include <algorithm>

#include "reader/gpu/carver.h"
#include "reader/gpu/cuda_check.h"

namespace imgpack::gpu {

namespace {

struct Parts {
  std::byte* images;
  std::int64_t* labels;
  float* soft_labels;
  std::uint8_t* mask;
};

Parts parts_of(Carver& carver, const BatchFormat& format, std::uint32_t size, std::uint32_t room) {
  Parts parts{};
  parts.images = carver.take<std::byte>(format.image_bytes() * room);
  parts.labels = carver.take<std::int64_t>(size);
  parts.mask = carver.take<std::uint8_t>(size);
  if (format.soft_classes != 0) parts.soft_labels = carver.take<float>(std::size_t{size} * format.soft_classes);
  return parts;
}

std::size_t bytes_of(const BatchFormat& format, std::uint32_t size, std::uint32_t room) {
  Carver counting;
  parts_of(counting, format, size, room);
  return counting.used();
}

}  // namespace

CudaMemory::CudaMemory(int device, const BatchFormat& format, std::uint32_t size, std::uint32_t room)
    : device_(device) {
  const DeviceScope scope(device);
  buffer_ = DeviceBuffer(bytes_of(format, size, room));
  Carver carver(buffer_.data());
  const Parts parts = parts_of(carver, format, size, room);
  images = parts.images;
  labels = parts.labels;
  soft_labels = parts.soft_labels;
  mask = parts.mask;
}

/// Within a scope: without it, freeing memory would end another thread's capture of a CUDA graph.
CudaMemory::~CudaMemory() {
  try {
    const DeviceScope scope(device_);
    buffer_ = DeviceBuffer();
  } catch (...) {  // the device is lost
  }
}

void CudaMemory::use_on(void* stream) {
  const auto used = static_cast<cudaStream_t>(stream);
  const std::lock_guard lock(mutex_);
  if (std::find(streams_.begin(), streams_.end(), used) == streams_.end()) streams_.push_back(used);
}

void CudaMemory::release() noexcept {
  const std::lock_guard lock(mutex_);
  released_count_ = 0;
  try {
    const DeviceScope scope(device_);
    for (const cudaStream_t stream : streams_) {
      if (released_count_ == released_.size()) released_.push_back(Event::create());
      released_[released_count_].record(stream);
      ++released_count_;
    }
  } catch (...) {
    unfenced_ = true;
  }
  streams_.clear();
}

void CudaMemory::wait_for_release(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  if (unfenced_) {
    const DeviceScope scope(device_);
    check(cudaDeviceSynchronize(), "waiting for the device");
    unfenced_ = false;
  }
  for (std::size_t i = 0; i < released_count_; ++i) {
    check(cudaStreamWaitEvent(stream, released_[i].get(), 0), "letting a stream wait");
  }
}

}  // namespace imgpack::gpu
