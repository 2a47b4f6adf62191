#include <sys/mman.h>
#include <ucontext.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include <cuda_runtime_api.h>

#include "tests/cuda_on_host/host_block.h"

// The linker's names for the section that __shared__ puts variables into, if there is one.
extern "C" {
extern __attribute__((weak)) char __start_device_shared[];
extern __attribute__((weak)) char __stop_device_shared[];
}

namespace imgpack::testing {

namespace {

constexpr std::size_t kStackBytes = std::size_t{128} << 10;
constexpr std::uint64_t kLowestWord = 0x5ca1ab1e0ddba11;  ///< of a stack, where nobody should come to

[[noreturn]] void give_up(const char* why) {
  std::fprintf(stderr, "a block of threads on the host: %s\n", why);
  std::abort();
}

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
  /// Threads take turns from the first one to the last, and backwards; which comes first depends on `turn`.
  Block(unsigned threads, std::byte* stacks, unsigned turn, const std::function<void(unsigned)>& work)
      : work_(work),
        turn_(turn),
        fibers_(threads),
        ended_(threads),
        warps_(threads / kWarp),
        live_(threads),
        current_(turn % 2 == 0 ? 0 : threads - 1) {
    for (unsigned thread = 0; thread < threads; ++thread) {
      ucontext_t& fiber = fibers_[thread];
      getcontext(&fiber);
      std::byte* const stack = stacks + thread * kStackBytes;
      std::memcpy(stack, &kLowestWord, sizeof kLowestWord);
      fiber.uc_stack.ss_sp = stack;
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
    vain_turns_ = 0;
    if (++meeting.arrived == all) meeting.end();
    while (meeting.number == mine) yield();
  }
  /// Forwards or backwards, in turns, so that nothing depends on the order by chance.
  unsigned next() const {
    const auto count = static_cast<unsigned>(fibers_.size());
    const unsigned step = (all_.number + turn_) % 2 == 0 ? 1 : count - 1;
    unsigned thread = current_;
    do thread = (thread + step) % count;
    while (ended_[thread]);
    return thread;
  }
  void yield() {
    if (++vain_turns_ > 2 * fibers_.size()) give_up("its threads wait for each other, or for one that has ended");
    const dim3 index = threadIdx;
    const unsigned from = current_;
    current_ = next();
    if (current_ != from) swapcontext(&fibers_[from], &fibers_[current_]);
    threadIdx = index;
  }

  const std::function<void(unsigned)>& work_;
  const unsigned turn_;
  ucontext_t main_{};
  std::vector<ucontext_t> fibers_;
  std::vector<bool> ended_;
  std::vector<Warp> warps_;
  Meeting all_;
  unsigned live_;
  unsigned current_;
  std::size_t vain_turns_ = 0;  ///< since anything has happened
  bool all_true_ = true;
};

thread_local Block* running_block = nullptr;

void Block::run() {
  running_block = this;
  swapcontext(&main_, &fibers_[current_]);
  running_block = nullptr;
}

void Block::begin() {
  Block& block = *running_block;
  block.work_(block.current_);
  if (std::memcmp(block.fibers_[block.current_].uc_stack.ss_sp, &kLowestWord, sizeof kLowestWord) != 0) {
    give_up("a thread's stack is too small");
  }
  block.ended_[block.current_] = true;
  block.vain_turns_ = 0;
  if (--block.live_ == 0) {
    setcontext(&block.main_);
  } else {
    if (block.all_.arrived == block.live_) block.all_.end();
    block.current_ = block.next();
    setcontext(&block.fibers_[block.current_]);
  }
  give_up("there is no other thread to go on with");
}

/// Nothing is left in it of the block before.
void spoil_shared_memory() {
  if (__start_device_shared == nullptr) return;
  std::memset(__start_device_shared, 0xa5, static_cast<std::size_t>(__stop_device_shared - __start_device_shared));
}

class Stacks {
 public:
  explicit Stacks(unsigned threads) : bytes_(threads * kStackBytes) {
    void* const memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<std::byte*>(memory);
  }
  ~Stacks() {
#if defined(__SANITIZE_ADDRESS__)
    ASAN_UNPOISON_MEMORY_REGION(memory_, bytes_);  // what comes to this place next is no stack
#endif
    munmap(memory_, bytes_);
  }
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  std::byte* data() const {
    return memory_;
  }

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_;
};

}  // namespace

void run_blocks(unsigned blocks, unsigned threads, const std::function<void(unsigned, unsigned)>& work) {
  static std::atomic<unsigned> runs = 0;
  const unsigned turn = runs++;
  const Stacks stacks(threads);
  for (unsigned i = 0; i < blocks; ++i) {
    const unsigned block = turn / 2 % 2 == 0 ? i : blocks - 1 - i;
    const std::function<void(unsigned)> work_of_block = [&](unsigned thread) { work(block, thread); };
    spoil_shared_memory();
    Block(threads, stacks.data(), turn + block, work_of_block).run();
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
