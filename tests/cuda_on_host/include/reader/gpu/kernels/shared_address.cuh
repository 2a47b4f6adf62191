// In the place of the header for devices: an address, and copies that spoil what they go to at once and arrive as late
// as may be.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime_api.h>

namespace imgpack::gpu {

struct PendingCopy {
  std::byte* to;
  const uint4* from;
  std::uint32_t bytes;
};
/// Of the running thread of the block.
inline std::vector<PendingCopy>& pending_copies() {
  static thread_local std::array<std::vector<PendingCopy>, testing::kMostThreads> all;
  return all[threadIdx.x];
}

template <int kNewer>
void wait_for_copies() {
  for (std::vector<PendingCopy>& all = pending_copies(); all.size() > kNewer; all.erase(all.begin())) {
    const PendingCopy& copy = all.front();
    std::memset(copy.to, 0, sizeof *copy.from);
    std::memcpy(copy.to, copy.from, copy.bytes);
  }
}

class SharedAddress {
 public:
  explicit SharedAddress(void* address) : address_(static_cast<std::byte*>(address)) {}
  void store_if(bool condition, std::uint32_t offset, std::int16_t value) const {
    if (condition) store_as(offset, value);
  }
  void store(std::uint32_t offset, uint4 value) const { store_as(offset, value); }
  uint4 load(std::uint32_t offset) const { return load_as<uint4>(offset); }
  std::uint32_t load_word(std::uint32_t offset) const { return load_as<std::uint32_t>(offset); }
  void load_word_if(bool condition, std::uint32_t offset, std::uint32_t& value) const {
    if (condition) value = load_word(offset);
  }
  std::uint32_t load_half(std::uint32_t offset) const { return load_as<std::uint16_t>(offset); }
  void begin_copy(std::uint32_t offset, const uint4* from, std::uint32_t bytes) const {
    std::memset(at<uint4>(offset), 0xa5, sizeof *from);
    pending_copies().push_back({at<uint4>(offset), from, bytes});
  }

 private:
  /// Misaligned accesses end the program, as a device's do.
  template <class T>
  std::byte* at(std::uint32_t offset) const {
    std::byte* const address = address_ + offset;
    if (reinterpret_cast<std::uintptr_t>(address) % sizeof(T) != 0) std::abort();
    return address;
  }
  template <class T>
  void store_as(std::uint32_t offset, T value) const {
    std::memcpy(at<T>(offset), &value, sizeof value);
  }
  template <class T>
  T load_as(std::uint32_t offset) const {
    T value;
    std::memcpy(&value, at<T>(offset), sizeof value);
    return value;
  }

  std::byte* address_;
};

}  // namespace imgpack::gpu
