#include "reader/gpu/gds_arena.h"

#include <algorithm>
#include <utility>

#include "imgpack/error.h"

namespace imgpack::gpu {

std::span<const std::byte> GdsArena::read(const PayloadPlace& place) {
  if (place.size == 0) return {};
  const auto bytes = static_cast<std::size_t>(place.size);
  // Congruent modulo pages, so that whole pages need no copy on their way.
  const Piece piece = take(bytes, static_cast<std::size_t>(place.offset % kPage));
  files_.read(place, piece.block, piece.offset);
  return {piece.block + piece.offset, bytes};
}

void GdsArena::reset() noexcept {
  current_ = 0;
  used_ = 0;
}

GdsArena::Piece GdsArena::take(std::size_t bytes, std::size_t shift) {
  const std::size_t needed = (shift + bytes + kPage - 1) / kPage * kPage;
  const std::lock_guard lock(mutex_);
  for (; current_ < blocks_.size(); ++current_, used_ = 0) {
    const DeviceBuffer& memory = blocks_[current_].memory;
    if (needed > memory.size() - used_) continue;
    const Piece piece{memory.data(), used_ + shift};
    used_ += needed;
    return piece;
  }
  Block block;
  block.memory = DeviceBuffer(std::max(kBlock, needed));
  try {
    block.registered = files_.register_buffer(block.memory.data(), block.memory.size());
  } catch (const Error&) {  // memory that can't be pinned for the disk's driver; the slower way remains
  }
  blocks_.push_back(std::move(block));
  used_ = needed;
  return {blocks_.back().memory.data(), shift};
}

}  // namespace imgpack::gpu
