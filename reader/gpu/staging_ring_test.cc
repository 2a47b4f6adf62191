#include "reader/gpu/staging_ring.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using namespace imgpack::gpu;

namespace {

/// A device whose copies are made by a thread of its own, one after the other, as late as it likes.
class SlowPort final : public StagingPort {
 public:
  SlowPort() : worker_([this](const std::stop_token& stop) { run(stop); }) {}

  std::shared_ptr<std::byte> allocate_host(std::size_t bytes) override { return allocate(bytes, host_bytes); }
  std::shared_ptr<std::byte> allocate_device(std::size_t bytes) override { return allocate(bytes, device_bytes); }
  void send(std::size_t chunk, const std::byte* host, std::byte* device, std::size_t bytes) override {
    if (send_fails) throw std::bad_alloc();
    const std::lock_guard lock(mutex_);
    sent_twice |= !under_way_.insert(chunk).second;
    queue_.push_back({chunk, host, device, bytes});
    sent.push_back({device, bytes});
    most_under_way = std::max(most_under_way, under_way_.size());
    changed_.notify_all();
  }
  bool is_sent(std::size_t chunk) override {
    const std::lock_guard lock(mutex_);
    return !under_way_.contains(chunk);
  }
  void wait(std::size_t chunk) override {
    if (wait_fails) throw std::bad_alloc();
    std::unique_lock lock(mutex_);
    if (under_way_.contains(chunk)) flush();
    changed_.wait(lock, [&] { return !under_way_.contains(chunk); });
  }
  void wait_for_all() {
    std::unique_lock lock(mutex_);
    flush();
    changed_.wait(lock, [&] { return under_way_.empty(); });
  }

  std::atomic<std::size_t> host_bytes = 0;  ///< that are allocated
  std::atomic<std::size_t> device_bytes = 0;
  std::atomic<std::size_t> allocations_left = 1'000'000;
  std::atomic<bool> send_fails = false;
  std::atomic<bool> wait_fails = false;
  bool sent_twice = false;  ///< a chunk, before its last copy had ended
  std::size_t most_under_way = 0;
  std::vector<std::span<const std::byte>> sent;  ///< ranges of the device's memory
  std::size_t least_queued = 1;                  ///< before the device does anything, unless somebody waits for it

 private:
  struct Copy {
    std::size_t chunk;
    const std::byte* host;
    std::byte* device;
    std::size_t bytes;
  };

  std::shared_ptr<std::byte> allocate(std::size_t bytes, std::atomic<std::size_t>& counter) {
    if (allocations_left == 0) throw std::bad_alloc();
    --allocations_left;
    counter += bytes;
    auto* const memory = new (std::align_val_t{64}) std::byte[bytes];
    return {memory, [bytes, &counter](std::byte* block) {
              counter -= bytes;
              ::operator delete[](block, std::align_val_t{64});
            }};
  }
  void flush() {
    flush_ = !queue_.empty();
    changed_.notify_all();
  }
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto begins = [this] { return !queue_.empty() && (flush_ || queue_.size() >= least_queued); };
    while (changed_.wait(lock, stop, begins)) {
      const Copy copy = queue_.front();
      lock.unlock();
      std::memcpy(copy.device, copy.host, copy.bytes);
      lock.lock();
      queue_.pop_front();
      under_way_.erase(copy.chunk);
      if (queue_.empty()) flush_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Copy> queue_;
  std::set<std::size_t> under_way_;
  bool flush_ = false;
  std::jthread worker_;
};

std::vector<std::byte> record_of(std::size_t number, std::size_t bytes) {
  std::mt19937 random(static_cast<unsigned>(number));
  std::vector<std::byte> record(bytes);
  for (std::byte& byte : record) byte = static_cast<std::byte>(random());
  return record;
}

}  // namespace

TEST_CASE("staging ring: records of several batches and threads arrive whole, of any size") {
  SlowPort port;
  port.least_queued = 2;
  StagingRing ring(port, 4096, 3);
  constexpr std::size_t kRecords = 200;
  constexpr std::size_t kThreads = 4;
  const auto size_of_record = [](std::size_t i) { return i % 17 == 0 ? 3000 + i * 60 : 1 + i * 7 % 900; };
  std::vector<std::jthread> batches;
  std::atomic<std::size_t> wrong = 0;
  for (std::size_t batch = 0; batch < 2; ++batch) {
    batches.emplace_back([&, batch] {
      StagedRecords staged(ring);
      for (std::size_t round = 0; round < 3; ++round) {
        std::vector<std::span<const std::byte>> places(kRecords);
        std::vector<std::jthread> threads;
        for (std::size_t t = 0; t < kThreads; ++t) {
          threads.emplace_back([&, t] {
            for (std::size_t i = t; i < kRecords; i += kThreads) {
              places[i] = staged.put(record_of(i + batch * 1000 + round * 10'000, size_of_record(i)));
            }
          });
        }
        threads.clear();
        wrong += staged.finish() ? 0 : 1;
        port.wait_for_all();
        for (std::size_t i = 0; i < kRecords; ++i) {
          const auto record = record_of(i + batch * 1000 + round * 10'000, size_of_record(i));
          wrong += places[i].size() == record.size() && std::memcmp(places[i].data(), record.data(), record.size()) == 0
                       ? 0
                       : 1;
        }
        staged.reset();
      }
    });
  }
  batches.clear();
  CHECK(wrong == 0);
  CHECK_FALSE(port.sent_twice);
  CHECK(port.most_under_way >= 2);
}

TEST_CASE("staging ring: memory stays what a few chunks need, large ones are given up") {
  SlowPort port;
  StagingRing ring(port, 4096, 3);
  StagedRecords staged(ring);
  const std::vector<std::byte> record(1000);
  for (int batch = 0; batch < 20; ++batch) {
    for (int i = 0; i < 30; ++i) staged.put(record);
    staged.finish();
    port.wait_for_all();
    staged.reset();
  }
  CHECK(port.host_bytes <= (3 + 2) * 4096);
  CHECK(port.device_bytes == 10 * 4096);  // three records a chunk

  staged.put(std::vector<std::byte>(1 << 20));
  staged.finish();
  port.wait_for_all();
  staged.reset();
  CHECK(port.host_bytes > 1 << 20);
  for (int i = 0; i < 100; ++i) staged.put(record);
  staged.finish();
  port.wait_for_all();
  CHECK(port.host_bytes < 1 << 20);
}

TEST_CASE("staging ring: nothing is sent of a batch that is given up, and of one without records") {
  SlowPort port;
  StagingRing ring(port, 4096, 3);
  {
    StagedRecords staged(ring);
    CHECK_FALSE(staged.finish());
    CHECK(staged.put({}).empty());
    CHECK_FALSE(staged.finish());
    staged.put(std::vector<std::byte>(100));
  }
  CHECK(port.most_under_way == 0);
  const std::size_t before = port.host_bytes;
  StagedRecords staged(ring);
  staged.put(std::vector<std::byte>(100));  // in the chunk that was given back
  CHECK(port.host_bytes == before);
}

TEST_CASE("staging ring: a port that fails is told, and the ring goes on") {
  SlowPort port;
  StagingRing ring(port, 4096, 3);
  StagedRecords staged(ring);
  const std::vector<std::byte> record(3000, std::byte{7});
  port.allocations_left = 1;  // for the host
  CHECK_THROWS_AS(staged.put(record), std::bad_alloc);
  port.allocations_left = 100;
  staged.put(record);
  port.send_fails = true;
  CHECK_THROWS_AS(staged.finish(), std::bad_alloc);
  port.send_fails = false;
  staged.reset();
  const std::span<const std::byte> place = staged.put(record);
  CHECK(staged.finish());
  port.wait_for_all();
  CHECK(std::memcmp(place.data(), record.data(), record.size()) == 0);
}

TEST_CASE("staging ring: what may be read beside a record is sent too") {
  constexpr std::size_t kBeside = 16;
  SlowPort port;
  StagingRing ring(port, 4096, 3);
  StagedRecords staged(ring);
  std::vector<std::span<const std::byte>> places;
  for (const std::size_t bytes : {1, 48, 64, 1000, 3000, 4000, 4096, 20'000, 17}) {
    places.push_back(staged.put(std::vector<std::byte>(bytes)));
  }
  staged.finish();
  port.wait_for_all();
  for (const std::span<const std::byte> place : places) {
    CAPTURE(place.size());
    CHECK(std::any_of(port.sent.begin(), port.sent.end(), [&](std::span<const std::byte> range) {
      return place.data() - kBeside >= range.data() &&
             place.data() + place.size() + kBeside <= range.data() + range.size();
    }));
  }
}

TEST_CASE("staging ring: threads do not hang when chunks can't be sent, and the batch is known to be worthless") {
  SlowPort port;
  StagingRing ring(port, 4096, 3);
  StagedRecords staged(ring);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> failures = 0;
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
          const std::vector<std::byte> record(1500);
          for (int i = 0; i < 50; ++i) {
            if (i == 25) port.send_fails = true;
            try {
              staged.put(record);
            } catch (const std::bad_alloc&) {
              ++failures;
            }
          }
        });
      }
    }
    CHECK(failures > 0);
    CHECK_THROWS_AS(staged.finish(), std::bad_alloc);
    staged.reset();
    port.send_fails = false;
    port.wait_for_all();
    const std::vector<std::byte> record(3000, std::byte{9});
    const std::span<const std::byte> place = staged.put(record);
    CHECK(staged.finish());
    port.wait_for_all();
    CHECK(std::memcmp(place.data(), record.data(), record.size()) == 0);
    staged.reset();
  }
}

TEST_CASE("staging ring: a chunk that can't be had ahead fails nobody, one that is needed does") {
  SlowPort port;
  port.least_queued = 100;  // so that no chunk comes back
  StagingRing ring(port, 4096, 3);
  StagedRecords staged(ring);
  const std::vector<std::byte> record(1500);
  port.allocations_left = 2;  // a chunk here and there
  staged.put(record);
  CHECK_NOTHROW(staged.put(record));  // more than half of the chunk is used
  CHECK_THROWS_AS(staged.put(record), std::bad_alloc);
  port.allocations_left = 100;
  for (int i = 0; i < 20; ++i) staged.put(record);
  CHECK(staged.finish());
  port.wait_for_all();
  CHECK(port.host_bytes <= 5 * 4096);
}

TEST_CASE("staging ring: after failures there are as many chunks as before") {
  SlowPort port;
  port.least_queued = 100;
  StagingRing ring(port, 4096, 3);
  std::vector<std::byte> device(4096);
  std::vector<StagingRing::Chunk> kept;  // memory that copies under way read
  const auto send_one = [&] {
    kept.push_back(ring.take(100));
    ring.send(kept.back(), device.data(), 100);
  };
  for (int round = 0; round < 5; ++round) {
    port.send_fails = true;
    CHECK_THROWS_AS(send_one(), std::bad_alloc);
    port.send_fails = false;
    port.allocations_left = 0;
    CHECK_THROWS_AS(ring.take(5000), std::bad_alloc);
    port.allocations_left = 100;
    for (int i = 0; i < 3; ++i) send_one();
    port.wait_fails = true;
    CHECK_THROWS_AS(ring.take(100), std::bad_alloc);
    port.wait_fails = false;
    port.wait_for_all();
  }
  port.most_under_way = 0;
  for (int i = 0; i < 3; ++i) send_one();
  CHECK(port.most_under_way == 3);
  port.wait_for_all();
}
