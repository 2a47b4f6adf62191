// What a loader's threads count, cheaply enough to be always on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace imgpack {

/// Sums over all threads; each is added to a few times a chunk of samples, never a pixel.
struct Counters {
  std::atomic<std::uint64_t> made{0};         ///< samples, whether they are delivered or not
  std::atomic<std::uint64_t> device_made{0};  ///< of these, by a device
  std::atomic<std::uint64_t> samples{0};      ///< delivered
  std::atomic<std::uint64_t> damaged{0};      ///< of these
  std::atomic<std::uint64_t> bytes_read{0};
  std::atomic<std::uint64_t> page_faults{0};
  std::atomic<std::uint64_t> read_ns{0};
  std::atomic<std::uint64_t> decode_ns{0};
  std::atomic<std::uint64_t> mix_ns{0};
  std::atomic<std::uint64_t> device_ns{0};
  std::atomic<std::uint64_t> idle_ns{0};
  std::atomic<std::uint64_t> wait_ns{0};
  std::atomic<std::uint64_t> batches{0};        ///< delivered
  std::atomic<std::uint64_t> ready_batches{0};  ///< summed when a batch is taken: divided by `batches`, the mean
};

inline void count(std::atomic<std::uint64_t>& counter, std::uint64_t amount) noexcept {
  counter.fetch_add(amount, std::memory_order_relaxed);
}

/// Nanoseconds since it was made, or since the last lap().
class StopWatch {
 public:
  std::uint64_t lap() noexcept {
    const auto now = std::chrono::steady_clock::now();
    const auto elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(now - begin_).count();
    begin_ = now;
    return static_cast<std::uint64_t>(elapsed);
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace imgpack
