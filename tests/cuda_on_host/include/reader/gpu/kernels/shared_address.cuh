// In the place of the header for devices: an address, and copies that spoil what they go to at once and arrive as late
// as may be.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>

#include <cuda_runtime_api.h>

namespace imgpack::gpu {

struct PendingCopy {
  std::byte* to;
  const uint4* from;
  std::uint32_t bytes;
};
/// Of the running thread of the block.
inline std::deque<PendingCopy>& pending_copies() {
  static thread_local std::array<std::deque<PendingCopy>, testing::kMostThreads> all;
  return all[threadIdx.x];
}

template <int kNewer>
void wait_for_copies() {
  for (std::deque<PendingCopy>& all = pending_copies(); all.size() > kNewer; all.pop_front()) {
    const PendingCopy& copy = all.front();
    std::memset(copy.to, 0, sizeof *copy.from);
    std::memcpy(copy.to, copy.from, copy.bytes);
  }
}

class SharedAddress {
 public:
  explicit SharedAddress(void* address) : address_(static_cast<std::byte*>(address)) {}
  void store_if(bool condition, std::uint32_t offset, std::int16_t value) const {
    if (condition) std::memcpy(address_ + offset, &value, sizeof value);
  }
  void store(std::uint32_t offset, uint4 value) const { std::memcpy(address_ + offset, &value, sizeof value); }
  uint4 load(std::uint32_t offset) const { return load_as<uint4>(offset); }
  std::uint32_t load_word(std::uint32_t offset) const { return load_as<std::uint32_t>(offset); }
  void load_word_if(bool condition, std::uint32_t offset, std::uint32_t& value) const {
    if (condition) value = load_word(offset);
  }
  std::uint32_t load_half(std::uint32_t offset) const { return load_as<std::uint16_t>(offset); }
  void begin_copy(std::uint32_t offset, const uint4* from, std::uint32_t bytes) const {
    std::memset(address_ + offset, 0xa5, sizeof *from);
    pending_copies().push_back({address_ + offset, from, bytes});
  }

 private:
  template <class T>
  T load_as(std::uint32_t offset) const {
    T value;
    std::memcpy(&value, address_ + offset, sizeof value);
    return value;
  }

  std::byte* address_;
};

}  // namespace imgpack::gpu
