#include "reader/gpu/registered_windows.h"

#include <algorithm>
#include <functional>

namespace imgpack::gpu {

namespace {

std::uintptr_t address(const std::byte* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

}  // namespace

RegisteredWindows::RegisteredWindows(std::vector<RegisteredWindow> windows) {
  std::sort(windows.begin(), windows.end(), [](const RegisteredWindow& a, const RegisteredWindow& b) {
    return std::less<const std::byte*>()(a.host, b.host);
  });
  for (const RegisteredWindow& window : windows) {
    if (window.bytes == 0) continue;
    device_begins_.push_back(address(window.device));
    if (!spans_.empty()) {
      RegisteredWindow& last = spans_.back();
      if (last.host + last.bytes == window.host && last.device + last.bytes == window.device) {
        last.bytes += window.bytes;
        continue;
      }
    }
    spans_.push_back(window);
  }
  std::sort(device_begins_.begin(), device_begins_.end());
}

const std::byte* RegisteredWindows::device_view(std::span<const std::byte> range) const noexcept {
  const auto after =
      std::upper_bound(spans_.begin(), spans_.end(), address(range.data()),
                       [&](std::uintptr_t at, const RegisteredWindow& window) { return at < address(window.host); });
  if (after == spans_.begin()) return nullptr;
  const RegisteredWindow& window = *(after - 1);
  const std::uintptr_t offset = address(range.data()) - address(window.host);
  if (offset > window.bytes || range.size() > window.bytes - offset) return nullptr;
  return window.device + offset;
}

bool RegisteredWindows::crosses_windows(std::span<const std::byte> device_range) const noexcept {
  const std::uintptr_t begin = address(device_range.data());
  const auto after = std::upper_bound(device_begins_.begin(), device_begins_.end(), begin);
  return after != device_begins_.end() && *after - begin < device_range.size();
}

std::uint64_t RegisteredWindows::bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const RegisteredWindow& window : spans_) bytes += window.bytes;
  return bytes;
}

}  // namespace imgpack::gpu
