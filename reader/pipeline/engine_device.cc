// The engine's line of batches that a device is making.
#include <cstdint>

#include "reader/pipeline/engine.h"

namespace imgpack {

bool Engine::completion_due() const noexcept {
  if (on_device_.empty() || !on_device_.front().entry) return false;
  const OnDevice& first = on_device_.front();
  return first.entry->workers == 0 && (first.entry->made || first.run->cancelled_);
}

void Engine::complete_batches() {
  Lock lock(mutex_);
  while (!stop_) {
    if (!completion_due()) {
      line_.wait(lock);
      continue;
    }
    const OnDevice& first = on_device_.front();
    BatchJob& job = *first.entry->job;
    const bool wanted = !first.run->cancelled_;
    lock.unlock();
    if (wanted) {
      job.finish();
      count(counters_.device_ns, static_cast<std::uint64_t>(job.device_seconds() * 1e9));
    } else {
      job.abandon_device();
    }
    lock.lock();
    std::list<OnDevice> done;
    done.splice(done.begin(), on_device_, on_device_.begin());
    done.front().entry->finished = wanted;
    ready_.notify_all();
    work_.notify_one();  // there may be place for another batch
    lock.unlock();
    done.clear();  // and memory with it, if nobody wants the batch
    lock.lock();
  }
}

}  // namespace imgpack
