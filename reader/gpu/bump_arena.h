// Memory that is handed out piece by piece and taken back all at once. No CUDA here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace imgpack::gpu {

/// take() is thread-safe; reset() and the destructor must not run beside it.
class BumpArena {
 public:
  /// Makes blocks aligned to kAlignment; what it throws take() throws.
  using Allocate = std::function<std::shared_ptr<std::byte>(std::size_t bytes)>;
  static constexpr std::size_t kAlignment = 256;

  /// Blocks have `block_bytes`, or more where a piece needs more.
  BumpArena(std::size_t block_bytes, Allocate allocate);

  /// Unspecified memory, valid until reset(). Pieces do not share cache lines. REQUIRES: `alignment` is a power of two
  /// up to kAlignment.
  std::byte* take(std::size_t bytes, std::size_t alignment = 16);
  /// Takes all pieces back. The blocks stay for the next ones.
  void reset() noexcept;

  /// Of all blocks.
  std::uint64_t capacity() const;

 private:
  struct Block {
    std::shared_ptr<std::byte> memory;
    std::size_t size = 0;
    std::atomic<std::size_t> used = 0;
  };
  static std::byte* take_from(Block& block, std::size_t bytes, std::size_t alignment) noexcept;
  std::byte* take_elsewhere(std::size_t bytes, std::size_t alignment);

  const std::size_t block_bytes_;
  const Allocate allocate_;
  std::atomic<Block*> current_ = nullptr;
  mutable std::mutex mutex_;  ///< for what follows
  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t next_ = 0;  ///< the first block that has not been current since reset()
};

}  // namespace imgpack::gpu
