#include "reader/gpu/pinned_arena.h"

#include <memory>

#include "reader/gpu/cuda_handles.h"

namespace imgpack::gpu {

PinnedArena::PinnedArena(std::size_t block_bytes)
    : arena_(block_bytes, [](std::size_t bytes) {
        const auto block = std::make_shared<PinnedBuffer>(bytes);
        return std::shared_ptr<std::byte>(block, block->data());
      }) {}

}  // namespace imgpack::gpu
