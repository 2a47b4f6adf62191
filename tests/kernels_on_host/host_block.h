// A block of CUDA's threads, run by threads of the host.
#pragma once

#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <deque>
#include <functional>

namespace imgpack::testing {

inline constexpr unsigned kWarp = 32;
using WarpValues = std::array<std::uint64_t, kWarp>;

class HostBlock {
 public:
  /// Runs `work(block, thread)` for each thread of each block: those of a block at the same time, blocks one after the
  /// other. REQUIRES: whole warps, and that the machine gives so many threads.
  static void run(unsigned blocks, unsigned threads, const std::function<void(unsigned, unsigned)>& work);
  explicit HostBlock(unsigned threads) : all_(threads), warps_(threads / kWarp) {}
  /// The block that the calling thread is of.
  static HostBlock& of_thread();

  /// Threads that have ended are not waited for.
  void wait_for_all() { all_.arrive_and_wait(); }
  /// Once in a block.
  bool all_true(bool value) {
    if (!value) all_true_ = false;
    wait_for_all();
    return all_true_;
  }
  /// Hands a value around the warp, all of whose threads must be there.
  WarpValues share(unsigned thread, std::uint64_t value);

 private:
  struct Warp {
    std::barrier<> barrier{kWarp};
    WarpValues values{};
  };

  std::barrier<> all_;
  std::atomic<bool> all_true_ = true;
  std::deque<Warp> warps_;
};

}  // namespace imgpack::testing
