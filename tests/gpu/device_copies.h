// Values on their way to the device and back, for tests.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include <cuda_runtime_api.h>

#include "reader/gpu/cuda_check.h"
#include "reader/gpu/cuda_handles.h"

namespace imgpack::testing {

/// At offset `skip` of the memory.
template <class T>
gpu::DeviceBuffer to_device(const std::vector<T>& values, std::size_t skip = 0) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t bytes = values.size() * sizeof(T);
  gpu::DeviceBuffer memory(skip + bytes);
  if (bytes != 0) {
    gpu::check(cudaMemcpy(memory.data() + skip, values.data(), bytes, cudaMemcpyHostToDevice), "copying to the device");
    gpu::check(cudaDeviceSynchronize(), "copying to the device");  // which streams of their own do not wait for
  }
  return memory;
}

/// Waits for what `stream` has to do.
inline std::vector<std::byte> from_device(const std::byte* memory, std::size_t bytes, const gpu::Stream& stream) {
  stream.synchronize();
  std::vector<std::byte> values(bytes);
  gpu::check(cudaMemcpy(values.data(), memory, bytes, cudaMemcpyDeviceToHost), "copying from the device");
  return values;
}

}  // namespace imgpack::testing
