// Which parts of mapped files to register with CUDA, and why these. No CUDA here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reader/gpu/cuda_device.h"

namespace imgpack::gpu {

using HostRange = std::span<const std::byte>;

struct RegistrationWish {
  DeviceTransport transport = DeviceTransport::automatic;
  std::uint64_t limit_bytes = 0;      ///< most bytes to pin; 0: half of `available_bytes`
  std::uint64_t available_bytes = 0;  ///< of memory, as memory_available()
  /// Files are registered in windows of at most this size, so that a part of a file can be; a multiple of `page_bytes`.
  std::uint64_t window_bytes = std::uint64_t{1} << 30;
  std::uint64_t page_bytes = 4096;
};

struct RegistrationPlan {
  std::vector<HostRange> windows;  ///< whole pages, in the order of the mappings; empty: nothing is to be registered
  std::uint64_t total_bytes = 0;   ///< of all mappings, in whole pages
  std::string reason;              ///< why not everything; empty if everything
};

/// As many windows, from the first mapping on, as the limit and nine tenths of the available memory allow: what is
/// registered can't leave memory any more. None unless the transport is automatic or zero_copy. REQUIRES: mappings
/// begin at page boundaries.
RegistrationPlan plan_registration(std::span<const HostRange> mappings, const RegistrationWish& wish);

/// What was done, for people: "zero_copy: all 3.9 GB of the dataset are registered", "zero_copy for 1.0 GB of 3.9 GB
/// of the dataset, pinned for the rest: ...", "pinned: ...". Throws unsupported for what `demanded` does not allow:
/// zero_copy means all of it. `reason`: why not everything.
std::string describe_registration(DeviceTransport demanded, std::uint64_t registered_bytes, std::uint64_t total_bytes,
                                  const std::string& reason);

}  // namespace imgpack::gpu
