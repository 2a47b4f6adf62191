#include "tests/gpu/gpu_testing.h"

#include <random>

#include "reader/gpu/cuda_check.h"

namespace imgpack::testing {

gpu::DeviceBuffer to_device(std::span<const std::byte> bytes) {
  gpu::DeviceBuffer buffer(bytes.size());
  gpu::check(cudaMemcpy(buffer.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "copying to the device");
  gpu::check(cudaDeviceSynchronize(), "copying to the device");  // which streams of their own do not wait for
  return buffer;
}

std::vector<std::byte> from_device(const gpu::DeviceBuffer& buffer) {
  gpu::check(cudaDeviceSynchronize(), "waiting for the device");
  std::vector<std::byte> bytes(buffer.size());
  gpu::check(cudaMemcpy(bytes.data(), buffer.data(), bytes.size(), cudaMemcpyDeviceToHost), "copying from the device");
  return bytes;
}

void fill_device(const gpu::DeviceBuffer& buffer, std::uint8_t value) {
  gpu::check(cudaMemset(buffer.data(), value, buffer.size()), "filling device memory");
  gpu::check(cudaDeviceSynchronize(), "waiting for the device");
}

std::vector<std::byte> random_bytes(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

}  // namespace imgpack::testing
