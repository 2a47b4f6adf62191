// Finding device addresses of host ranges among registered windows. No CUDA here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace imgpack::gpu {

struct RegisteredWindow {
  const std::byte* host = nullptr;
  const std::byte* device = nullptr;
  std::size_t bytes = 0;
};

/// Windows that do not overlap. Thread-safe for const functions.
class RegisteredWindows {
 public:
  RegisteredWindows() = default;
  explicit RegisteredWindows(std::vector<RegisteredWindow> windows);

  /// The device's address of the whole range, or nullptr where not all of it is registered, or where neighbouring
  /// windows that it crosses are no neighbours for the device.
  const std::byte* device_view(std::span<const std::byte> range) const noexcept;
  /// Whether a range of the device's addresses goes from one window into another: it was registered in pieces.
  bool crosses_windows(std::span<const std::byte> device_range) const noexcept;
  std::uint64_t bytes() const noexcept;

 private:
  std::vector<RegisteredWindow> spans_;        ///< by host address; windows that are neighbours for both are one
  std::vector<std::uintptr_t> device_begins_;  ///< of all windows, ascending
};

}  // namespace imgpack::gpu
