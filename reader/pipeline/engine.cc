#include "reader/pipeline/engine.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "imgpack/error.h"
#include "mmap/blocked_signals.h"
#include "reader/pipeline/chunk_maker.h"

namespace imgpack {

namespace {

constexpr std::size_t kMostDamage = 1000;

constexpr std::chrono::hours kLongestWait{24};

/// Page faults of the calling thread so far that had to wait for a disk.
std::uint64_t disk_faults() noexcept {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<std::uint64_t>(usage.ru_majflt);
}

}  // namespace

Engine::Engine(const WorkPlan& plan, Counters& counters, std::shared_ptr<BatchDevice> device)
    : plan_(plan),
      counters_(counters),
      process_(getpid()),
      pool_(BatchPool::create({.format = plan.format,
                               .kept = plan.options.prefetch_batches + 1,
                               .size = plan.options.batch_size,
                               .room = plan.options.batch_size + (plan.mixer ? 1 : 0)},
                              std::move(device))),
      tuner_(plan.start_threads, plan.most_threads, plan.tuning_window) {
  if (plan.options.read == ReadMode::unbuffered) unbuffered_.emplace(plan.sampler.shares());
  // A thread must not be lost because there is no room to note it.
  threads_.reserve(plan.most_threads);
  readers_.reserve(plan.options.read_threads);
}

std::shared_ptr<Engine> Engine::create(const WorkPlan& plan, Counters& counters, std::shared_ptr<BatchDevice> device) {
  return {new Engine(plan, counters, std::move(device)), [](Engine* engine) {
            if (engine->in_own_process()) delete engine;
          }};
}

std::shared_ptr<Run> Engine::make_run(std::uint64_t epoch, std::uint64_t first, std::uint64_t seed,
                                      std::uint64_t order) const {
  return {new Run(epoch, first, seed, order, plan_.options.read == ReadMode::ahead), [process = process_](Run* run) {
            if (getpid() == process) delete run;
          }};
}

Engine::~Engine() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    if (run_) run_->cancelled_ = true;
    if (next_run_) next_run_->cancelled_ = true;
  }
  work_.notify_all();
  reads_.notify_all();
  parked_.notify_all();
  line_.notify_all();
  for (std::vector<std::thread>* threads : {&threads_, &readers_, &completers_}) {
    for (std::thread& thread : *threads) thread.join();
  }
  for (const OnDevice& item : on_device_) item.entry->job->abandon_device();
}

bool Engine::in_own_process() const noexcept {
  return getpid() == process_;
}

std::shared_ptr<Run> Engine::begin(std::uint64_t epoch, std::uint64_t first, std::uint64_t seed, std::uint64_t order) {
  const std::lock_guard lock(mutex_);
  const auto drop = [](std::shared_ptr<Run>& run) {
    if (!run) return;
    run->cancelled_ = true;
    run->entries_.clear();
    run.reset();
  };
  drop(run_);
  // What ended a run that was begun ahead may be over: memory that ran out, for one.
  if (next_run_ && (next_run_->epoch_ != epoch || first != 0 || next_run_->seed_ != seed || next_run_->error_))
    drop(next_run_);
  run_ = next_run_ ? std::move(next_run_) : make_run(epoch, first, seed, order);
  next_run_.reset();
  read_ahead_.store(run_->read_ahead_, std::memory_order_relaxed);
  start_threads();
  line_.notify_one();
  wake_workers();
  return run_;
}

/// As many as the machine gives, if it gives one of each kind.
void Engine::start_threads() {
  const BlockedSignals blocked;
  const auto fill = [](std::vector<std::thread>& threads, std::size_t wanted, auto&& start) {
    threads.reserve(wanted);  // a thread that finds no place in the list would end the program
    while (threads.size() < wanted) {
      try {
        threads.push_back(start(static_cast<unsigned>(threads.size())));
      } catch (const std::exception&) {  // no more threads, or no memory for one
        if (threads.empty()) throw;
        return;
      }
    }
  };
  const auto worker = [this](unsigned number) { return std::thread([this, number] { work(number); }); };
  const auto reader = [this](unsigned) { return std::thread([this] { read(); }); };
  fill(threads_, 1, worker);
  if (unbuffered_) fill(readers_, plan_.options.read_threads, reader);
  if (pool_->device() != nullptr) {
    fill(completers_, 1, [this](unsigned) { return std::thread([this] { complete_batches(); }); });
  }
  fill(threads_, tuner_.threads(), worker);
}

void Engine::end(Run& run) noexcept {
  run.cancelled_ = true;
  const std::lock_guard lock(mutex_);
  run.entries_.clear();
  if (run_.get() == &run) run_.reset();
  line_.notify_one();
  work_.notify_all();  // whoever waits does so for the next epoch now, not for this consumer
}

bool Engine::exhausted(const Run& run) const noexcept {
  return batch_count(plan_.sampler.samples(), run.next_position_, plan_.shape) == 0;
}

bool Engine::ready(const Run& run) const noexcept {
  if (run_.get() != &run || run.error_) return true;
  if (run.entries_.empty()) return exhausted(run) && !run.opening_;
  return run.entries_.front()->finished;
}

bool Engine::wait(Run& run, std::chrono::milliseconds timeout) {
  StopWatch watch;
  Lock lock(mutex_);
  const bool result =
      ready_.wait_for(lock, std::min<std::chrono::milliseconds>(timeout, kLongestWait), [&] { return ready(run); });
  count(counters_.wait_ns, watch.lap());
  return result;
}

std::optional<Batch> Engine::next(Run& run) {
  StopWatch watch;
  Lock lock(mutex_);
  ready_.wait(lock, [&] { return ready(run); });
  count(counters_.wait_ns, watch.lap());
  if (run_.get() != &run) {
    throw Error(ErrorCode::invalid_argument, "this epoch is over: another one was begun, or it was stopped");
  }
  if (run.error_) std::rethrow_exception(run.error_);
  if (run.entries_.empty()) return std::nullopt;
  const auto finished =
      std::count_if(run.entries_.begin(), run.entries_.end(), [](const auto& e) { return e->finished; });
  const std::shared_ptr<Run::Entry> entry = std::move(run.entries_.front());
  run.entries_.pop_front();
  note(entry->job->damage());
  lock.unlock();
  work_.notify_one();  // there is place for another batch
  Batch batch = entry->job->take();
  count(counters_.batches, 1);
  count(counters_.samples, batch.size());
  count(counters_.damaged, batch.skipped());
  count(counters_.ready_batches, static_cast<std::uint64_t>(finished));
  return batch;
}

/// Each record once, however often it comes.
void Engine::note(const std::vector<Damage>& found) {
  for (const Damage& item : found) {
    const bool known = std::any_of(damage_.begin(), damage_.end(), [&](const Damage& other) {
      return other.file == item.file && other.record == item.record;
    });
    if (!known && damage_.size() < kMostDamage) damage_.push_back(item);
  }
}

unsigned Engine::threads() const {
  const std::lock_guard lock(mutex_);
  return std::min(tuner_.threads(), static_cast<unsigned>(threads_.size()));
}

std::vector<Damage> Engine::damage() const {
  const std::lock_guard lock(mutex_);
  return damage_;
}

/// Opening comes first: it is quick, and lets reads begin. Then the chunks of the earliest batch.
std::optional<Engine::Work> Engine::find_work() {
  if (std::optional<Work> opening = find_opening()) return opening;
  for (const std::shared_ptr<Run>* run : {&run_, &next_run_}) {
    if (std::optional<Work> chunk = find_chunk(*run)) return chunk;
  }
  return std::nullopt;
}

std::optional<Engine::Work> Engine::find_opening() {
  const std::size_t opened = (run_ ? run_->entries_.size() : 0) + (next_run_ ? next_run_->entries_.size() : 0);
  if (opened >= plan_.options.prefetch_batches || on_device_.size() >= plan_.options.prefetch_batches) {
    return std::nullopt;
  }
  if (run_ && !run_->cancelled_ && exhausted(*run_) && !run_->opening_ && !next_run_ &&
      plan_.options.prefetch_next_epoch) {
    next_run_ = make_run(run_->epoch_ + 1, 0, run_->seed_, run_->order_);
  }
  for (const std::shared_ptr<Run>& run : {run_, next_run_}) {
    if (!run || run->cancelled_) continue;
    if (run->opening_) return std::nullopt;
    if (!exhausted(*run)) return Work{.run = run, .entry = nullptr, .chunk = 0};
  }
  return std::nullopt;
}

std::optional<Engine::Work> Engine::find_chunk(const std::shared_ptr<Run>& run) const {
  if (!run) return std::nullopt;
  for (const std::shared_ptr<Run::Entry>& entry : run->entries_) {
    while (entry->first_open < entry->chunks.size() && entry->chunks[entry->first_open] == Run::Chunk::taken) {
      ++entry->first_open;
    }
    for (std::size_t chunk = entry->first_open; chunk < entry->chunks.size(); ++chunk) {
      if (entry->chunks[chunk] != Run::Chunk::ready) continue;
      entry->chunks[chunk] = Run::Chunk::taken;
      return Work{.run = run, .entry = entry, .chunk = chunk};
    }
  }
  return std::nullopt;
}

void Engine::work(unsigned number) {
  std::optional<ChunkMaker> maker;
  Lock lock(mutex_);
  while (!stop_) {
    if (number >= tuner_.threads()) {
      work_.notify_one();  // what woke this thread may be meant for one that works
      parked_.wait(lock);
      continue;
    }
    std::optional<Work> task;
    try {
      task = find_work();
      if (!task) {
        wait_for_work(lock);
      } else if (!task->entry) {
        open_batch(task->run, lock);
      } else {
        make_chunk(*task, maker, lock);
      }
    } catch (...) {
      give_up(task ? task->run : run_, lock);
    }
  }
}

void Engine::give_up(const std::shared_ptr<Run>& run, Lock& lock) noexcept {
  if (!lock.owns_lock()) lock.lock();
  if (run) {
    if (!run->error_) run->error_ = std::current_exception();
    run->cancelled_ = true;
  }
  ready_.notify_all();
  line_.notify_one();
}

/// Only while there is a consumer is a thread without work a sign that it is slow.
void Engine::wait_for_work(Lock& lock) {
  const bool counts = run_ != nullptr;
  StopWatch watch;
  work_.wait(lock);
  if (counts) count(counters_.idle_ns, watch.lap());
}

void Engine::open_batch(const std::shared_ptr<Run>& run, Lock& lock) {
  const BatchJob::Place place{
      .epoch = run->epoch_, .first = run->next_position_, .seed = run->seed_, .order = run->order_};
  run->opening_ = true;
  run->next_position_ = batch_part(plan_.sampler.samples(), run->next_position_, plan_.shape).global_end;
  const bool device = pool_->device() != nullptr;
  const auto in_line = device ? on_device_.insert(on_device_.end(), {.run = run, .entry = nullptr}) : on_device_.end();
  lock.unlock();
  std::shared_ptr<Run::Entry> entry;
  try {
    entry = make_entry(*run, place);
  } catch (...) {
    lock.lock();
    if (device) on_device_.erase(in_line);
    throw;
  }
  lock.lock();
  run->opening_ = false;
  if (device) in_line->entry = entry;
  if (!run->cancelled_) {
    run->entries_.push_back(std::move(entry));
  } else {
    line_.notify_one();
  }
  wake_workers();
  if (unbuffered_) reads_.notify_all();
}

std::shared_ptr<Run::Entry> Engine::make_entry(Run& run, const BatchJob::Place& place) {
  auto entry = std::make_shared<Run::Entry>();
  entry->job = std::make_shared<BatchJob>(plan_, place, *pool_);
  entry->chunks.assign(entry->job->chunks(), unbuffered_ ? Run::Chunk::to_read : Run::Chunk::ready);
  entry->first_unread = unbuffered_ ? 0 : entry->chunks.size();
  entry->chunks_left = entry->chunks.size();
  if (run.read_ahead_) begin_read_ahead(run, *entry->job);
  return entry;
}

/// With a device, chunks may take less time than waking a thread for each does: then whoever takes a chunk and leaves
/// another one wakes the next thread.
void Engine::wake_workers() {
  if (pool_->device() != nullptr) {
    work_.notify_one();
  } else {
    work_.notify_all();
  }
}

void Engine::make_chunk(const Work& task, std::optional<ChunkMaker>& maker, Lock& lock) {
  Run::Entry& entry = *task.entry;
  const auto [begin, end] = entry.job->chunk(task.chunk);
  std::uint64_t faults = 0;
  ++entry.workers;
  if (pool_->device() != nullptr && task.chunk + 1 < entry.chunks.size()) work_.notify_one();
  lock.unlock();
  try {
    if (!maker) maker.emplace(plan_, counters_);
    const std::uint64_t faults_before = disk_faults();
    maker->make(*entry.job, task.chunk, task.run->cancelled_);
    faults = disk_faults() - faults_before;
  } catch (...) {
    entry.job->fail(std::current_exception());
  }
  lock.lock();
  note_faults(*task.run, faults, end - begin);
  if (--entry.chunks_left == 0) finish_batch(task, lock);
  --entry.workers;
  if (completion_due()) line_.notify_one();
}

/// Reading ahead costs a system call a record, more than all planning of an image that a device decodes.
void Engine::note_faults(Run& run, std::uint64_t faults, std::size_t samples) noexcept {
  run.fault_count_.add(faults, samples);
  if (faults == 0) return;
  count(counters_.page_faults, faults);
  if (plan_.options.read != ReadMode::automatic || !run.fault_count_.is_cold()) return;
  run.read_ahead_ = true;
  if (&run == run_.get()) read_ahead_.store(true, std::memory_order_relaxed);
}

void Engine::finish_batch(const Work& task, Lock& lock) {
  const bool device = pool_->device() != nullptr;
  lock.unlock();
  StopWatch watch;
  if (!task.run->cancelled_) {
    if (device) {
      task.entry->job->submit();
    } else {
      task.entry->job->finish();
    }
  }
  count(counters_.mix_ns, watch.lap());
  lock.lock();
  task.entry->made = true;
  if (device) return;
  task.entry->finished = true;
  ready_.notify_all();
  tune();
}

/// Without a thread more than there are, if the machine gives none: that is no reason to end anything.
void Engine::tune() noexcept {
  if (plan_.most_threads == plan_.start_threads) return;
  const unsigned before = tuner_.threads();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
  tuner_.update({.seconds = elapsed.count(),
                 .samples = static_cast<double>(counters_.made.load(std::memory_order_relaxed)),
                 .wait_seconds = static_cast<double>(counters_.wait_ns.load(std::memory_order_relaxed)) * 1e-9});
  if (tuner_.threads() <= before) return;
  if (tuner_.threads() > threads_.size() && !stop_) start_threads();
  parked_.notify_all();
}

}  // namespace imgpack
