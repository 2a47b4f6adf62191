// Reads and prepares entries on several threads and hands them over in order, with bounded memory.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "packer/prepare.h"

namespace imgpack {

/// Entry numbers first, first + 1, ... below end are turned into source entries by `entry_at`. Used by one consumer
/// thread.
///
/// Threads take units of a few entries. A unit is read ahead only while the bytes that wait for the consumer are below
/// `max_bytes`; the unit that the consumer waits for may always go on, so that nothing can get stuck.
class PreparePipeline {
 public:
  struct Options {
    PrepareOptions prepare;
    unsigned threads = 1;
    std::uint64_t max_bytes = 64u << 20;
  };

  /// Throws io if no thread can be started.
  PreparePipeline(const Source& source, std::function<std::uint64_t(std::uint64_t)> entry_at, std::uint64_t first,
                  std::uint64_t end, const Options& options);
  /// Stops and joins all threads.
  ~PreparePipeline();

  /// The next entries, in order; empty at the end. Valid until the next call. Throws what a thread threw, at its place
  /// in the order.
  std::span<PreparedEntry> next();

 private:
  static constexpr std::uint64_t kUnitEntries = 8;
  static constexpr std::size_t kKeptBuffer = 256u << 10;  ///< larger buffers are given back after use

  struct Unit {
    std::vector<PreparedEntry> entries;
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    bool ready = false;
    std::exception_ptr failure;
  };

  void start_threads();
  void work();
  void fill(std::uint64_t ticket, EntryPreparer& preparer, Unit& unit);
  bool wait_for_room(std::uint64_t ticket);
  void recycle_last();

  const Source& source_;
  std::function<std::uint64_t(std::uint64_t)> entry_at_;
  std::uint64_t first_;
  std::uint64_t end_;
  Options options_;
  std::uint64_t tickets_;

  std::mutex mutex_;
  std::condition_variable room_;   ///< a unit or bytes became free, or the consumer moved on
  std::condition_variable ready_;  ///< a unit became ready
  std::vector<Unit> units_;        ///< ring: ticket t is in units_[t % size]
  std::uint64_t next_ticket_ = 0;  ///< to be taken by a thread
  std::uint64_t consumed_ = 0;     ///< tickets handed to the consumer and given back
  bool holding_ = false;           ///< the consumer has unit `consumed_`
  std::uint64_t waiting_bytes_ = 0;
  bool stop_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace imgpack
