// Reading of the engine's batches: ahead, into the page cache, or by threads of its own, past it.
#include <algorithm>
#include <span>

#include "reader/pipeline/engine.h"

namespace imgpack {

/// By whole blocks, the batch's window and the one behind it, or record by record. Only the thread that opens a batch
/// gets here.
void Engine::begin_read_ahead(Run& run, const BatchJob& job) const {
  const Sampler sampler = plan_.sampler.with_seed(run.seed_);
  std::optional<SampleWindow> window = sampler.window(run.epoch_, job.part().global_begin);
  if (!window) {
    for (const Sample& sample : job.samples()) {
      sampler.shares()[sample.dataset].dataset.store().prefetch(sample.record, 1);
    }
    return;
  }
  const std::uint64_t last = std::min(window->end, sampler.samples() - 1);
  const std::uint64_t wanted = sampler.window(run.epoch_, last)->end;
  while (run.read_until_ < wanted) {
    window = sampler.window(run.epoch_, std::max(run.read_until_, job.part().global_begin));
    for (const RecordRange& range : window->records) {
      sampler.shares().front().dataset.store().prefetch(range.begin, range.size());
    }
    run.read_until_ = window->end;
  }
}

std::optional<Engine::Work> Engine::find_read() const {
  for (const std::shared_ptr<Run>& run : {run_, next_run_}) {
    if (!run) continue;
    for (const std::shared_ptr<Run::Entry>& entry : run->entries_) {
      if (entry->first_unread == entry->chunks.size()) continue;
      const std::size_t chunk = entry->first_unread++;
      entry->chunks[chunk] = Run::Chunk::reading;
      return Work{.run = run, .entry = entry, .chunk = chunk};
    }
  }
  return std::nullopt;
}

void Engine::read() {
  Lock lock(mutex_);
  while (!stop_) {
    const std::optional<Work> task = find_read();
    if (!task) {
      reads_.wait(lock);
      continue;
    }
    try {
      read_chunk(*task, lock);
    } catch (...) {
      give_up(task->run, lock);
    }
  }
}

void Engine::read_chunk(const Work& task, Lock& lock) {
  BatchJob& job = *task.entry->job;
  lock.unlock();
  StopWatch watch;
  if (!task.run->cancelled_) {
    const auto [begin, end] = job.chunk(task.chunk);
    job.fetched(task.chunk) = unbuffered_->fetch(std::span(job.samples()).subspan(begin, end - begin));
  }
  count(counters_.read_ns, watch.lap());
  lock.lock();
  task.entry->chunks[task.chunk] = Run::Chunk::ready;
  work_.notify_one();
}

}  // namespace imgpack
