#include <atomic>
#include <barrier>
#include <deque>
#include <thread>
#include <vector>

#include "tests/cuda_on_host/host_block.h"

namespace imgpack::testing {

namespace {

struct Warp {
  std::barrier<> barrier{kWarp};
  WarpValues values{};
};

struct Block {
  explicit Block(unsigned threads) : all(threads), warps(threads / kWarp) {}
  std::barrier<> all;
  std::atomic<bool> all_true = true;
  std::deque<Warp> warps;
};

thread_local Block* block_of_thread = nullptr;

}  // namespace

void run_blocks(unsigned blocks, unsigned threads, const std::function<void(unsigned, unsigned)>& work) {
  std::deque<Block> all;
  for (unsigned i = 0; i < blocks; ++i) all.emplace_back(threads);
  std::barrier<> block_ends(threads);  // shared memory is the next one's then
  std::vector<std::jthread> running;
  for (unsigned thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      for (unsigned block = 0; block < blocks; ++block) {
        block_of_thread = &all[block];
        work(block, thread);
        all[block].all.arrive_and_drop();
        block_ends.arrive_and_wait();
      }
    });
  }
}

void wait_for_block() {
  block_of_thread->all.arrive_and_wait();
}

bool all_true_in_block(bool value) {
  if (!value) block_of_thread->all_true = false;
  wait_for_block();
  return block_of_thread->all_true;
}

WarpValues share_in_warp(unsigned thread, std::uint64_t value) {
  Warp& warp = block_of_thread->warps[thread / kWarp];
  warp.values[thread % kWarp] = value;
  warp.barrier.arrive_and_wait();
  const WarpValues values = warp.values;
  warp.barrier.arrive_and_wait();
  return values;
}

}  // namespace imgpack::testing
