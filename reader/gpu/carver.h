// Cuts pieces from a block of memory, or only counts what they would take.
#pragma once

#include <cstddef>
#include <cstdint>

namespace imgpack::gpu {

class Carver {
 public:
  static constexpr std::size_t kAlignment = 256;

  Carver() = default;  ///< counts: pieces have no addresses that mean anything
  explicit Carver(std::byte* memory) noexcept : memory_(memory) {}

  template <class T>
  T* take(std::size_t count) noexcept {
    return reinterpret_cast<T*>(take_bytes(count * sizeof(T)));
  }
  /// A place whose address is congruent to `like` modulo 16, with at least 16 bytes before and behind it.
  std::byte* take_like(const void* like, std::size_t bytes) noexcept {
    return take_bytes(bytes + 48) + 16 + reinterpret_cast<std::uintptr_t>(like) % 16;
  }
  std::size_t used() const noexcept { return used_; }

 private:
  std::byte* take_bytes(std::size_t bytes) noexcept {
    std::byte* const piece = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(memory_) + used_);
    used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return piece;
  }

  std::byte* memory_ = nullptr;
  std::size_t used_ = 0;
};

}  // namespace imgpack::gpu
