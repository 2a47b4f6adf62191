// Pinned host memory for what the host makes for one batch in flight: finished images, which are copied from there.
//
//   std::byte* place = arena.take(bytes);    on any thread
//   arena.reset();                           when nothing of it is copied or read any more
#pragma once

#include <cstddef>
#include <cstdint>

#include "reader/gpu/bump_arena.h"

namespace imgpack::gpu {

/// take() is thread-safe and throws out_of_memory, io; reset() and the destructor must not run beside it, nor while the
/// device reads pieces. What was pinned stays pinned until the destructor. Devices see pieces at their host addresses.
class PinnedArena {
 public:
  static constexpr std::size_t kDefaultBlock = std::size_t{32} << 20;

  explicit PinnedArena(std::size_t block_bytes = kDefaultBlock);

  /// Unspecified memory, valid until reset().
  std::byte* take(std::size_t bytes) { return arena_.take(bytes); }
  /// Takes all pieces back and keeps the blocks for the next batch.
  void reset() noexcept { arena_.reset(); }
  /// Bytes pinned.
  std::uint64_t capacity() const { return arena_.capacity(); }

 private:
  BumpArena arena_;
};

}  // namespace imgpack::gpu
