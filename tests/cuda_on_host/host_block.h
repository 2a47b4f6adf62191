// Blocks of CUDA's threads, run by the host: as fibers of one thread, which is quick, or as threads, in which
// ThreadSanitizer sees what a block's threads do to each other's memory.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

namespace imgpack::testing {

inline constexpr unsigned kWarp = 32;
inline constexpr unsigned kMostThreads = 1024;  ///< of a block
using WarpValues = std::array<std::uint64_t, kWarp>;

/// Runs `work(block, thread)` for each thread of each block: those of a block take turns or run at the same time, and
/// blocks run one after the other, forwards or backwards. Ends the program if threads wait in vain. REQUIRES: whole
/// warps.
void run_blocks(unsigned blocks, unsigned threads, const std::function<void(unsigned, unsigned)>& work);

// Of the block that the caller is of, while run_blocks() runs it.

/// Threads that have ended are not waited for.
void wait_for_block();
/// May be called once in a block.
bool all_true_in_block(bool value);
/// Hands a value around the warp, all of whose threads must be there.
WarpValues share_in_warp(unsigned thread, std::uint64_t value);

}  // namespace imgpack::testing
