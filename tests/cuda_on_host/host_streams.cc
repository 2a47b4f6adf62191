#include "tests/cuda_on_host/host_streams.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

namespace imgpack::testing {

namespace {

/// One recording of an event.
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
  std::deque<Item> items;
  bool lags = false;  ///< does nothing that nobody waits for
};

class HostEvent {
 public:
  std::shared_ptr<Recording> last;
};

namespace {

class Device {
 public:
  std::mutex mutex;
  std::vector<HostStream*> streams;

  void add(HostStream* stream, Item item) {
    stream->items.push_back(std::move(item));
    do_some();
  }
  void finish(const Recording& recording) {
    while (!recording.over) do_next(*recording.stream);
  }
  void finish(HostStream& stream) {
    while (!stream.items.empty()) do_next(stream);
  }

 private:
  void do_some() {
    if (random_() % 64 == 0) {
      for (HostStream* stream : streams) stream->lags = random_() % 2 == 0;
    }
    for (std::uint32_t count = random_() % 4; count > 0; --count) {
      HostStream& stream = *streams[random_() % streams.size()];
      if (stream.lags) continue;
      for (std::uint32_t items = random_() % 8; items > 0 && !stream.items.empty(); --items) {
        const Item& next = stream.items.front();
        if (next.awaited && !next.awaited->over) break;
        do_next(stream);
      }
    }
  }
  void do_next(HostStream& stream) {
    if (const std::shared_ptr<Recording> awaited = stream.items.front().awaited) finish(*awaited);
    const Item item = std::move(stream.items.front());
    stream.items.pop_front();
    if (item.work) item.work();
    if (item.recorded) {
      item.recorded->over = true;
      item.recorded->time = std::chrono::steady_clock::now();
    }
  }

  std::mt19937 random_;
};

Device& device() {
  static Device only;
  return only;
}

}  // namespace

HostStream* make_stream() {
  const std::lock_guard lock(device().mutex);
  device().streams.push_back(new HostStream);
  return device().streams.back();
}

void destroy_stream(HostStream* stream) {
  const std::lock_guard lock(device().mutex);
  device().finish(*stream);
  std::erase(device().streams, stream);
  delete stream;
}

void queue(HostStream* stream, std::function<void()> work) {
  const std::lock_guard lock(device().mutex);
  if (stream == nullptr) return work();
  device().add(stream, {.work = std::move(work), .recorded = nullptr, .awaited = nullptr});
}

HostEvent* make_event() {
  return new HostEvent;
}

void destroy_event(HostEvent* event) {
  delete event;
}

void record(HostEvent& event, HostStream* stream) {
  const std::lock_guard lock(device().mutex);
  event.last = std::make_shared<Recording>();
  event.last->stream = stream;
  if (stream == nullptr) {
    event.last->over = true;
    event.last->time = std::chrono::steady_clock::now();
    return;
  }
  device().add(stream, {.work = nullptr, .recorded = event.last, .awaited = nullptr});
}

void let_wait(HostStream* stream, const HostEvent& event) {
  const std::lock_guard lock(device().mutex);
  if (!event.last) return;
  if (stream == nullptr) return device().finish(*event.last);
  device().add(stream, {.work = nullptr, .recorded = nullptr, .awaited = event.last});
}

bool is_over(const HostEvent& event) {
  const std::lock_guard lock(device().mutex);
  return !event.last || event.last->over;
}

float milliseconds_between(const HostEvent& begin, const HostEvent& end) {
  const std::lock_guard lock(device().mutex);
  return std::chrono::duration<float, std::milli>(end.last->time - begin.last->time).count();
}

void finish(const HostEvent& event) {
  const std::lock_guard lock(device().mutex);
  if (event.last) device().finish(*event.last);
}

void finish(HostStream* stream) {
  const std::lock_guard lock(device().mutex);
  if (stream != nullptr) device().finish(*stream);
}

void finish_all_streams() {
  const std::lock_guard lock(device().mutex);
  for (HostStream* stream : device().streams) device().finish(*stream);
}

}  // namespace imgpack::testing
