#include <sys/mman.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include <cuda_runtime_api.h>

#include "tests/cuda_on_host/host_block.h"

namespace imgpack::testing {

namespace {

constexpr std::size_t kStackBytes = std::size_t{128} << 10;

/// What threads wait for together.
struct Meeting {
  unsigned arrived = 0;
  std::uint64_t number = 0;  ///< of meetings that are over

  void end() {
    arrived = 0;
    ++number;
  }
};

/// The fibers of one block, which all run on the thread that made it.
class Block {
 public:
  Block(unsigned threads, std::byte* stacks, const std::function<void(unsigned)>& work)
      : work_(work), fibers_(threads), ended_(threads), warps_(threads / kWarp), live_(threads) {
    for (unsigned thread = 0; thread < threads; ++thread) {
      ucontext_t& fiber = fibers_[thread];
      getcontext(&fiber);
      fiber.uc_stack.ss_sp = stacks + thread * kStackBytes;
      fiber.uc_stack.ss_size = kStackBytes;
      fiber.uc_link = nullptr;
      makecontext(&fiber, &Block::begin, 0);
    }
  }
  void run();
  void wait() { meet(all_, live_); }
  bool all_true(bool value) {
    all_true_ = all_true_ && value;
    wait();
    return all_true_;
  }
  WarpValues share(unsigned thread, std::uint64_t value) {
    Warp& warp = warps_[thread / kWarp];
    warp.values[thread % kWarp] = value;
    meet(warp.meeting, kWarp);
    const WarpValues values = warp.values;
    meet(warp.meeting, kWarp);
    return values;
  }

 private:
  struct Warp {
    Meeting meeting;
    WarpValues values{};
  };

  static void begin();
  void meet(Meeting& meeting, unsigned all) {
    const std::uint64_t mine = meeting.number;
    if (++meeting.arrived == all) meeting.end();
    while (meeting.number == mine) yield();
  }
  /// Forwards or backwards, so that nothing depends on the order by chance.
  unsigned next() const {
    const auto count = static_cast<unsigned>(fibers_.size());
    const unsigned step = all_.number % 2 == 0 ? 1 : count - 1;
    unsigned thread = current_;
    do thread = (thread + step) % count;
    while (ended_[thread]);
    return thread;
  }
  void yield() {
    const dim3 index = threadIdx;
    const unsigned from = current_;
    current_ = next();
    if (current_ != from) swapcontext(&fibers_[from], &fibers_[current_]);
    threadIdx = index;
  }

  const std::function<void(unsigned)>& work_;
  ucontext_t main_{};
  std::vector<ucontext_t> fibers_;
  std::vector<bool> ended_;
  std::vector<Warp> warps_;
  Meeting all_;
  unsigned live_;
  unsigned current_ = 0;
  bool all_true_ = true;
};

thread_local Block* running_block = nullptr;

void Block::run() {
  running_block = this;
  swapcontext(&main_, &fibers_[0]);
  running_block = nullptr;
}

void Block::begin() {
  Block& block = *running_block;
  block.work_(block.current_);
  block.ended_[block.current_] = true;
  if (--block.live_ == 0) {
    setcontext(&block.main_);
  } else {
    if (block.all_.arrived == block.live_) block.all_.end();
    block.current_ = block.next();
    setcontext(&block.fibers_[block.current_]);
  }
}

class Stacks {
 public:
  explicit Stacks(unsigned threads) : bytes_(threads * kStackBytes) {
    void* const memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<std::byte*>(memory);
  }
  ~Stacks() { munmap(memory_, bytes_); }
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  std::byte* data() const { return memory_; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_;
};

}  // namespace

void run_blocks(unsigned blocks, unsigned threads, const std::function<void(unsigned, unsigned)>& work) {
  const Stacks stacks(threads);
  for (unsigned block = 0; block < blocks; ++block) {
    const std::function<void(unsigned)> work_of_block = [&](unsigned thread) { work(block, thread); };
    Block(threads, stacks.data(), work_of_block).run();
  }
}

void wait_for_block() {
  running_block->wait();
}

bool all_true_in_block(bool value) {
  return running_block->all_true(value);
}

WarpValues share_in_warp(unsigned thread, std::uint64_t value) {
  return running_block->share(thread, value);
}

}  // namespace imgpack::testing
