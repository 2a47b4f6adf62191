// What tests on a GPU share. All of it throws where there is no GPU, so that such a test fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "reader/gpu/cuda_handles.h"

namespace imgpack::testing {

/// Copies to a new buffer on the device.
gpu::DeviceBuffer to_device(std::span<const std::byte> bytes);
template <class T>
gpu::DeviceBuffer to_device(const std::vector<T>& items) {
  static_assert(std::is_trivially_copyable_v<T>);
  return to_device(std::as_bytes(std::span(items)));
}
/// Waits for the device and copies all of a buffer.
std::vector<std::byte> from_device(const gpu::DeviceBuffer& buffer);
/// All bytes get that value.
void fill_device(const gpu::DeviceBuffer& buffer, std::uint8_t value);

std::vector<std::byte> random_bytes(std::size_t count, std::uint32_t seed);

}  // namespace imgpack::testing
