#include "reader/gpu/pinned_arena.h"

#include "reader/gpu/cuda_handles.h"

namespace imgpack::gpu {

PinnedArena::PinnedArena(std::size_t block_bytes) : arena_(block_bytes, &allocate_pinned) {}

}  // namespace imgpack::gpu
