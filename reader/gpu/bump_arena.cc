#include "reader/gpu/bump_arena.h"

#include <algorithm>
#include <utility>

namespace imgpack::gpu {

namespace {

/// Threads that write neighbouring pieces do not share a cache line.
constexpr std::size_t kGrain = 64;

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

}  // namespace

BumpArena::BumpArena(std::size_t block_bytes, Allocate allocate)
    : block_bytes_(rounded_up(std::max<std::size_t>(block_bytes, kAlignment), kAlignment)),
      allocate_(std::move(allocate)) {}

std::byte* BumpArena::take_from(Block& block, std::size_t bytes, std::size_t alignment) noexcept {
  const std::size_t slack = alignment > kGrain ? alignment - kGrain : 0;
  const std::size_t room = std::max(kGrain, rounded_up(bytes, kGrain)) + slack;
  // A failed try leaves the counter beyond the end, where it stays until reset(). It can't overflow: a thread tries a
  // full block once, and pieces larger than the block are not counted.
  if (room > block.size) return nullptr;
  const std::size_t begin = block.used.fetch_add(room, std::memory_order_relaxed);
  if (begin > block.size - room) return nullptr;
  return block.memory.get() + rounded_up(begin, alignment);
}

std::byte* BumpArena::take(std::size_t bytes, std::size_t alignment) {
  if (Block* const block = current_.load(std::memory_order_acquire)) {
    if (std::byte* const piece = take_from(*block, bytes, alignment)) return piece;
  }
  return take_elsewhere(bytes, alignment);
}

std::byte* BumpArena::take_elsewhere(std::size_t bytes, std::size_t alignment) {
  const std::lock_guard lock(mutex_);
  // Another thread may have moved on to a new block meanwhile.
  if (Block* const block = current_.load(std::memory_order_relaxed)) {
    if (std::byte* const piece = take_from(*block, bytes, alignment)) return piece;
  }
  for (;;) {
    if (next_ == blocks_.size()) {
      const std::size_t size =
          std::max(block_bytes_, rounded_up(std::max<std::size_t>(bytes, 1), kAlignment) + kAlignment);
      auto block = std::make_unique<Block>();
      block->memory = allocate_(size);
      block->size = size;
      blocks_.push_back(std::move(block));
    }
    Block& block = *blocks_[next_++];
    std::byte* const piece = take_from(block, bytes, alignment);
    current_.store(&block, std::memory_order_release);
    if (piece != nullptr) return piece;
  }
}

void BumpArena::reset() noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& block : blocks_) block->used.store(0, std::memory_order_relaxed);
  next_ = blocks_.empty() ? 0 : 1;
  current_.store(blocks_.empty() ? nullptr : blocks_.front().get(), std::memory_order_release);
}

std::uint64_t BumpArena::capacity() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t bytes = 0;
  for (const auto& block : blocks_) bytes += block->size;
  return bytes;
}

}  // namespace imgpack::gpu
