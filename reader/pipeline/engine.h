// The threads of a loader. They make the batches of one run after another, in order, and never more of them ahead of
// the consumer than was agreed.
//
//   waiting for place -> opened (samples drawn, read-ahead begun) -> [read] -> chunks made -> finished -> taken
//
// With a device, the thread that made the last chunk lets the device begin, and a thread of its own waits for one batch
// after the other and finishes it. A batch whose run is over waits in that line too, until no thread works on it and
// the device has let go of its memory; as long as it does it counts as one of those that may be in the making.
//
// Everything is guarded by one mutex that is held for bookkeeping only; threads without work sleep.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "reader/pipeline/batch_job.h"
#include "reader/pipeline/chunk_maker.h"
#include "reader/pipeline/counters.h"
#include "reader/pipeline/fault_count.h"
#include "reader/pipeline/record_source.h"
#include "reader/pipeline/thread_tuner.h"
#include "reader/pipeline/work_plan.h"

namespace imgpack {

/// A pass through one epoch, from a position on. Its members belong to the engine, under its mutex.
class Run {
 public:
  Run(std::uint64_t epoch, std::uint64_t first, std::uint64_t seed, std::uint64_t order, bool read_ahead) noexcept
      : epoch_(epoch), next_position_(first), seed_(seed), order_(order), read_ahead_(read_ahead) {}

  std::uint64_t epoch() const noexcept { return epoch_; }
  std::uint64_t seed() const noexcept { return seed_; }

 private:
  friend class Engine;

  enum class Chunk : std::uint8_t { to_read, reading, ready, taken };
  struct Entry {
    std::shared_ptr<BatchJob> job;
    std::vector<Chunk> chunks;
    std::size_t first_open = 0;    ///< all chunks before are taken
    std::size_t first_unread = 0;  ///< all chunks before are read, or being read
    std::size_t chunks_left = 0;   ///< not made yet
    std::size_t workers = 0;       ///< threads that are making chunks of it
    bool made = false;             ///< all chunks are, and the device, if there is one, has begun
    bool finished = false;
  };

  std::uint64_t epoch_;
  std::uint64_t next_position_;  ///< of the next batch to be opened
  std::uint64_t seed_;
  std::uint64_t order_;
  bool opening_ = false;  ///< a thread is at it
  FaultCount fault_count_;
  std::atomic<bool> read_ahead_;                ///< of batches that are opened
  std::uint64_t read_until_ = 0;                ///< positions whose windows are being read ahead
  std::deque<std::shared_ptr<Entry>> entries_;  ///< opened and not taken, in order
  std::atomic<bool> cancelled_{false};
  std::exception_ptr error_;  ///< what ended the run, if it was not a record
};

class Engine {
 public:
  /// Starts no thread yet. `device`: where batches are made and kept; nullptr: the CPU. REQUIRES: plan and counters
  /// outlive it.
  ///
  /// In a child process nobody may touch what the parent's threads were at: there, engines and runs of the parent are
  /// never destroyed.
  static std::shared_ptr<Engine> create(const WorkPlan& plan, Counters& counters,
                                        std::shared_ptr<BatchDevice> device = nullptr);
  /// Waits for what the threads and the device are just doing.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Whether this is the process whose threads these are.
  bool in_own_process() const noexcept;

  /// Begins a run in place of any other; it may have been begun ahead. Throws io if there can be no thread.
  std::shared_ptr<Run> begin(std::uint64_t epoch, std::uint64_t first, std::uint64_t seed, std::uint64_t order);
  /// No more work for `run`.
  void end(Run& run) noexcept;
  /// Waits for the next batch of `run`. Nothing if it has no more. Throws what went wrong, and invalid_argument if
  /// another run has taken its place.
  std::optional<Batch> next(Run& run);
  /// Waits until next() would not, until `timeout` at most.
  bool wait(Run& run, std::chrono::milliseconds timeout);

  unsigned threads() const;
  /// In the run that was begun last.
  bool read_ahead() const noexcept { return read_ahead_.load(std::memory_order_relaxed); }
  std::vector<Damage> damage() const;

 private:
  Engine(const WorkPlan& plan, Counters& counters, std::shared_ptr<BatchDevice> device);
  using Lock = std::unique_lock<std::mutex>;
  struct Work {
    std::shared_ptr<Run> run;
    std::shared_ptr<Run::Entry> entry;  ///< nothing: open a batch
    std::size_t chunk = 0;
  };

  /// A batch from its opening until the device has let go of it.
  struct OnDevice {
    std::shared_ptr<Run> run;
    std::shared_ptr<Run::Entry> entry;  ///< nothing: it is being opened
  };

  void start_threads();
  void work(unsigned number);
  /// Notes the exception that is being handled as the end of `run`. Takes the lock if it is not held.
  void give_up(const std::shared_ptr<Run>& run, Lock& lock) noexcept;
  void wait_for_work(Lock& lock);
  void read();
  void read_chunk(const Work& task, Lock& lock);
  std::shared_ptr<Run> make_run(std::uint64_t epoch, std::uint64_t first, std::uint64_t seed,
                                std::uint64_t order) const;
  std::optional<Work> find_work();
  std::optional<Work> find_chunk(const std::shared_ptr<Run>& run) const;
  std::optional<Work> find_opening();
  std::optional<Work> find_read() const;
  bool exhausted(const Run& run) const noexcept;
  bool ready(const Run& run) const noexcept;
  void open_batch(const std::shared_ptr<Run>& run, Lock& lock);
  std::shared_ptr<Run::Entry> make_entry(Run& run, const BatchJob::Place& place);
  void wake_workers();
  void begin_read_ahead(Run& run, const BatchJob& job) const;
  void make_chunk(const Work& task, std::optional<ChunkMaker>& maker, Lock& lock);
  void note_faults(Run& run, std::uint64_t faults, std::size_t samples) noexcept;
  void finish_batch(const Work& task, Lock& lock);
  void complete_batches();
  bool completion_due() const noexcept;
  void tune() noexcept;
  void note(const std::vector<Damage>& found);

  const WorkPlan& plan_;
  Counters& counters_;
  const pid_t process_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::shared_ptr<BatchPool> pool_;
  std::optional<UnbufferedSource> unbuffered_;
  std::atomic<bool> read_ahead_{false};

  mutable std::mutex mutex_;
  std::condition_variable work_;    ///< something may be there to do
  std::condition_variable reads_;   ///< something may be there to read
  std::condition_variable parked_;  ///< the number of threads has grown
  std::condition_variable line_;    ///< the first batch in the device's line may be made, or its run over
  std::condition_variable ready_;   ///< a batch is finished, or the run is over
  std::shared_ptr<Run> run_;        ///< that the consumer takes batches of
  std::shared_ptr<Run> next_run_;   ///< of the following epoch, begun ahead
  std::list<OnDevice> on_device_;   ///< in the order of opening
  bool stop_ = false;
  ThreadTuner tuner_;
  std::vector<Damage> damage_;
  std::vector<std::thread> threads_;
  std::vector<std::thread> readers_;
  std::vector<std::thread> completers_;  ///< one, with a device
};

}  // namespace imgpack
