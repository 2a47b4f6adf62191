#include "tests/kernels_on_host/host_block.h"

#include <thread>
#include <vector>

namespace imgpack::testing {

namespace {

thread_local HostBlock* block_of_thread = nullptr;

}  // namespace

void HostBlock::run(unsigned blocks, unsigned threads, const std::function<void(unsigned, unsigned)>& work) {
  std::deque<HostBlock> all;
  for (unsigned i = 0; i < blocks; ++i) all.emplace_back(threads);
  std::barrier<> block_ends(threads);  // shared memory is the next one's then
  std::vector<std::jthread> running;
  for (unsigned thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      for (unsigned block = 0; block < blocks; ++block) {
        block_of_thread = &all[block];
        work(block, thread);
        all[block].all_.arrive_and_drop();
        block_ends.arrive_and_wait();
      }
    });
  }
}

HostBlock& HostBlock::of_thread() {
  return *block_of_thread;
}

WarpValues HostBlock::share(unsigned thread, std::uint64_t value) {
  Warp& warp = warps_[thread / kWarp];
  warp.values[thread % kWarp] = value;
  warp.barrier.arrive_and_wait();
  const WarpValues values = warp.values;
  warp.barrier.arrive_and_wait();
  return values;
}

}  // namespace imgpack::testing
