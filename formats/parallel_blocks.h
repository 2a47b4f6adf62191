// Work on consecutive ranges of a sequence, on several threads.
#pragma once

#include <cstdint>
#include <functional>

namespace imgpack {

/// `wanted`, or if that is 0 as many threads as this process may run at once.
unsigned thread_count(unsigned wanted) noexcept;

/// Calls `work(begin, end)` for all ranges of `block` numbers below `count`, from thread_count(threads) threads (fewer
/// where the machine gives no more), the caller's among them. The first exception stops the rest and is thrown again
/// here, after all threads have ended.
void parallel_blocks(std::uint64_t count, std::uint64_t block, unsigned threads,
                     const std::function<void(std::uint64_t begin, std::uint64_t end)>& work);

}  // namespace imgpack
