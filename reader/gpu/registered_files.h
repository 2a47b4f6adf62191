// Mapped files that the GPU reads where they are: in the page cache, registered with CUDA.
//
//   auto files = RegisteredFiles::open(store.mappings(), {});
//   if (const std::byte* source = files.device_view(store.bytes(i).payload)) ... a kernel may read it
//   else ... the bytes go through a StagingRing
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "reader/gpu/registered_windows.h"
#include "reader/gpu/registration_plan.h"

namespace imgpack::gpu {

struct RegistrationOptions {
  DeviceTransport transport = DeviceTransport::automatic;  ///< zero_copy: all or an error; pinned, gds: nothing
  std::uint64_t limit_bytes = 0;                           ///< most bytes to pin; 0: half of the free memory
  std::uint64_t window_bytes = std::uint64_t{1} << 30;     ///< a multiple of the page size
};

/// Keeps the pages of what it registers in memory. Registrations hold for all devices of the process; a range that
/// several of these register is registered once and counted. Move-only; const functions are thread-safe. It must be
/// destroyed before the mappings are, and when no kernel reads them any more; in a child after fork() it does nothing.
class RegisteredFiles {
 public:
  /// Registers what memory and the options allow; reads it into memory if it is not there. A part of the files that the
  /// driver refuses, or that can't be read, is left out, and reason() says why. Throws unsupported where zero_copy is
  /// demanded and not possible. Needs a current device.
  static RegisteredFiles open(std::span<const HostRange> mappings, const RegistrationOptions& options);

  RegisteredFiles() = default;
  ~RegisteredFiles();
  RegisteredFiles(RegisteredFiles&& other) noexcept;
  RegisteredFiles& operator=(RegisteredFiles&& other) noexcept;

  /// Where the device finds the range, or nullptr where it can't: see RegisteredWindows. Kernels may read all of the
  /// 16-byte blocks that hold a byte of it, but copies by the driver must not cross windows.
  const std::byte* device_view(std::span<const std::byte> range) const noexcept { return views_.device_view(range); }
  /// Of addresses of the device.
  bool crosses_windows(std::span<const std::byte> range) const noexcept { return views_.crosses_windows(range); }

  std::uint64_t registered_bytes() const noexcept { return views_.bytes(); }
  /// Of all mappings, in whole pages.
  std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  /// "zero_copy: all 3.9 GB of the dataset are registered"; "pinned: ...".
  const std::string& reason() const noexcept { return reason_; }

 private:
  void release() noexcept;

  std::vector<const std::byte*> held_;  ///< beginnings of windows
  RegisteredWindows views_;
  std::uint64_t total_bytes_ = 0;
  std::string reason_;
  pid_t process_ = 0;
};

}  // namespace imgpack::gpu
