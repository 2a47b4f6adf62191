#include "formats/parallel_blocks.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "mmap/cpu_budget.h"

namespace imgpack {

unsigned thread_count(unsigned wanted) noexcept {
  return wanted != 0 ? wanted : cpu_budget();
}

void parallel_blocks(std::uint64_t count, std::uint64_t block, unsigned threads,
                     const std::function<void(std::uint64_t, std::uint64_t)>& work) {
  const std::uint64_t blocks = count / block + (count % block != 0 ? 1 : 0);
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    try {
      for (std::uint64_t i = next++; i < blocks && !stop; i = next++) work(i * block, std::min(count, (i + 1) * block));
    } catch (...) {
      stop = true;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    const auto wanted =
        static_cast<unsigned>(std::min<std::uint64_t>(thread_count(threads), std::max<std::uint64_t>(1, blocks)));
    try {
      for (unsigned i = 1; i < wanted; ++i) helpers.emplace_back(run);
    } catch (const std::system_error&) {
      // The machine gives no more threads: those that there are do the work.
    }
    run();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace imgpack
