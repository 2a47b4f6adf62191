#include "tests/cuda_on_host/host_streams.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

namespace imgpack::testing {

namespace {

/// One recording of an event. Its stream lives until it is over.
struct Recording {
  HostStream* stream = nullptr;
  bool over = false;
  std::chrono::steady_clock::time_point time;
};

/// One of the three.
struct Item {
  std::function<void()> work;
  std::shared_ptr<Recording> recorded;
  std::shared_ptr<Recording> awaited;
};

}  // namespace

class HostStream {
 public:
  explicit HostStream(int device) : device_(device) {}

 private:
  friend class HostStreams;
  friend int device_of(const HostStream& stream);

  const int device_;
  std::deque<Item> items_;
  bool lags_ = false;  ///< does nothing that nobody waits for
  bool destroyed_ = false;
};

class HostEvent {
 public:
  HostEvent(int device, bool timed) : device_(device), timed_(timed) {}

 private:
  friend class HostStreams;
  friend int device_of(const HostEvent& event);
  friend bool is_timed(const HostEvent& event);

  const int device_;
  const bool timed_;
  std::shared_ptr<Recording> last_;
};

/// Those of the process.
class HostStreams {
 public:
  static HostStreams& of_process() {
    static auto* const only = new HostStreams;  // CUDA is used until the very end
    return *only;
  }

  HostStream* make(int device) {
    const std::lock_guard lock(mutex_);
    return streams_.emplace_back(std::make_unique<HostStream>(device)).get();
  }
  void destroy(HostStream* stream) {
    const std::lock_guard lock(mutex_);
    stream->destroyed_ = true;
    remove_destroyed();
  }
  void queue(HostStream* stream, Item item) {
    const std::lock_guard lock(mutex_);
    add(stream, std::move(item));
  }
  void record(HostEvent& event, HostStream* stream) {
    const std::lock_guard lock(mutex_);
    event.last_ = std::make_shared<Recording>();
    event.last_->stream = or_default(stream);
    add(stream, {.work = nullptr, .recorded = event.last_, .awaited = nullptr});
  }
  void let_wait(HostStream* stream, const HostEvent& event) {
    const std::lock_guard lock(mutex_);
    if (event.last_) add(stream, {.work = nullptr, .recorded = nullptr, .awaited = event.last_});
  }
  bool is_over(const HostEvent& event) {
    const std::lock_guard lock(mutex_);
    do_some();  // whoever asks again and again gets an answer
    return !event.last_ || event.last_->over;
  }
  float milliseconds_between(const HostEvent& begin, const HostEvent& end) {
    const std::lock_guard lock(mutex_);
    return std::chrono::duration<float, std::milli>(end.last_->time - begin.last_->time).count();
  }
  void finish(const HostEvent& event) {
    const std::lock_guard lock(mutex_);
    if (event.last_) finish(*event.last_);
    remove_destroyed();
  }
  void finish(HostStream* stream) {
    const std::lock_guard lock(mutex_);
    finish(*or_default(stream));
    remove_destroyed();
  }
  void finish_all() {
    const std::lock_guard lock(mutex_);
    for (const std::unique_ptr<HostStream>& stream : streams_) finish(*stream);
    remove_destroyed();
  }

 private:
  HostStreams() {
    streams_.push_back(std::make_unique<HostStream>(0));
    if (const char* const seed = std::getenv("IMGPACK_STREAM_SEED")) random_.seed(std::strtoul(seed, nullptr, 10));
  }

  HostStream* or_default(HostStream* stream) const { return stream != nullptr ? stream : streams_.front().get(); }
  void add(HostStream* stream, Item item) {
    or_default(stream)->items_.push_back(std::move(item));
    do_some();
  }
  void finish(const Recording& recording) {
    while (!recording.over) do_next(*recording.stream);
  }
  void finish(HostStream& stream) {
    while (!stream.items_.empty()) do_next(stream);
  }
  void do_some() {
    if (random_() % 64 == 0) {
      for (const std::unique_ptr<HostStream>& stream : streams_) stream->lags_ = random_() % 2 == 0;
    }
    for (std::uint32_t count = random_() % 4; count > 0; --count) {
      HostStream& stream = *streams_[random_() % streams_.size()];
      if (stream.lags_) continue;
      for (std::uint32_t items = random_() % 8; items > 0 && !stream.items_.empty(); --items) {
        const Item& next = stream.items_.front();
        if (next.awaited && !next.awaited->over) break;
        do_next(stream);
      }
    }
    remove_destroyed();
  }
  void do_next(HostStream& stream) {
    if (const std::shared_ptr<Recording> awaited = stream.items_.front().awaited) finish(*awaited);
    const Item item = std::move(stream.items_.front());
    stream.items_.pop_front();
    if (item.work) item.work();
    if (item.recorded) {
      item.recorded->over = true;
      item.recorded->time = std::chrono::steady_clock::now();
    }
  }
  void remove_destroyed() {
    std::erase_if(streams_, [](const auto& stream) { return stream->destroyed_ && stream->items_.empty(); });
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<HostStream>> streams_;  ///< the first one is the null stream
  std::mt19937 random_;
};

HostStream* make_stream(int device) {
  return HostStreams::of_process().make(device);
}
void destroy_stream(HostStream* stream) {
  HostStreams::of_process().destroy(stream);
}
int device_of(const HostStream& stream) {
  return stream.device_;
}
void queue(HostStream* stream, std::function<void()> work) {
  HostStreams::of_process().queue(stream, {.work = std::move(work), .recorded = nullptr, .awaited = nullptr});
}

HostEvent* make_event(int device, bool timed) {
  return std::make_unique<HostEvent>(device, timed).release();
}
void destroy_event(HostEvent* event) {
  const std::unique_ptr<HostEvent> owner(event);
}
int device_of(const HostEvent& event) {
  return event.device_;
}
bool is_timed(const HostEvent& event) {
  return event.timed_;
}
void record(HostEvent& event, HostStream* stream) {
  HostStreams::of_process().record(event, stream);
}
void let_wait(HostStream* stream, const HostEvent& event) {
  HostStreams::of_process().let_wait(stream, event);
}
bool is_over(const HostEvent& event) {
  return HostStreams::of_process().is_over(event);
}
float milliseconds_between(const HostEvent& begin, const HostEvent& end) {
  return HostStreams::of_process().milliseconds_between(begin, end);
}

void finish(const HostEvent& event) {
  HostStreams::of_process().finish(event);
}
void finish(HostStream* stream) {
  HostStreams::of_process().finish(stream);
}
void finish_all_streams() {
  HostStreams::of_process().finish_all();
}

}  // namespace imgpack::testing
