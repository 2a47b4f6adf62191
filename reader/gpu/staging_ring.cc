#include "reader/gpu/staging_ring.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "reader/gpu/program/work.h"

namespace imgpack::gpu {

StagingRing::Chunk StagingRing::take_any() {
  std::unique_lock lock(mutex_);
  Chunk chunk;
  if (!free_.empty()) {
    chunk = std::move(free_.back());
    free_.pop_back();
    return chunk;
  }
  // The one that was sent first is the first to be free. If all are being filled, waiting for one could last forever.
  if (sent_.empty() || (alive_ < chunks_ && !port_.is_sent(sent_.front().number))) {
    chunk.number = next_number_++;
    ++alive_;
    return chunk;
  }
  chunk = std::move(sent_.front());
  sent_.pop_front();
  lock.unlock();
  try {
    port_.wait(chunk.number);
  } catch (...) {
    lose();
    throw;
  }
  return chunk;
}

StagingRing::Chunk StagingRing::take(std::size_t bytes) {
  const std::size_t wanted = std::max(bytes, chunk_bytes_);
  Chunk chunk = take_any();
  if (chunk.bytes >= bytes && chunk.bytes <= std::max(wanted, kMostKept * chunk_bytes_)) return chunk;
  chunk.host.reset();
  try {
    chunk.host = port_.allocate_host(wanted);
  } catch (...) {
    lose();
    throw;
  }
  chunk.bytes = wanted;
  return chunk;
}

void StagingRing::send(Chunk chunk, std::byte* device, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const std::size_t number = chunk.number;
  const std::byte* const host = chunk.host.get();
  sent_.push_back(std::move(chunk));  // first: a chunk that is being sent must not be lost
  try {
    port_.send(number, host, device, bytes);
  } catch (...) {
    sent_.pop_back();
    --alive_;
    throw;
  }
}

void StagingRing::give_back(Chunk chunk) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(chunk));
  } catch (...) {  // it is freed instead
    lose();
  }
}

/// A chunk is no more.
void StagingRing::lose() noexcept {
  const std::lock_guard lock(mutex_);
  --alive_;
}

std::span<const std::byte> StagedRecords::put(std::span<const std::byte> bytes) {
  if (bytes.empty()) return bytes;
  const std::size_t room = kLine + ceil_div(bytes.size() + kMargin, kLine) * kLine;
  std::unique_lock lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
  Filling& filling = filling_with(room, lock);
  const std::size_t offset = filling.used + kLine;
  filling.used += room;
  ++filling.writers;
  const bool fetches = !fetching_ && !next_ && filling.used > filling.chunk.bytes / 2;
  if (fetches) fetching_ = true;
  lock.unlock();
  std::memcpy(filling.chunk.host.get() + offset, bytes.data(), bytes.size());
  lock.lock();
  --filling.writers;
  if (filling.closed && filling.writers == 0) send(filling);
  if (fetches) {
    try {
      next_ = fetch(ring_.chunk_bytes(), lock);
    } catch (...) {  // whoever needs a chunk will meet it, if it lasts
    }
  }
  if (failure_) std::rethrow_exception(failure_);
  return {filling.device + offset, bytes.size()};
}

/// The chunk that is being filled, or the next one.
StagedRecords::Filling& StagedRecords::filling_with(std::size_t room, std::unique_lock<std::mutex>& lock) {
  for (;;) {
    if (!fillings_.empty()) {
      Filling& last = fillings_.back();
      if (!last.closed && room <= last.chunk.bytes - last.used) return last;
      close(last);
    }
    if (!fetching_) break;
    fetched_.wait(lock);
  }
  std::optional<StagingRing::Chunk> chunk;
  if (next_ && room <= next_->bytes) {
    chunk = std::exchange(next_, std::nullopt);
  } else {
    fetching_ = true;
    chunk = fetch(room, lock);
  }
  try {
    const std::size_t number = fillings_.size();
    if (number == device_.size()) device_.emplace_back();
    DeviceChunk& device = device_[number];
    if (device.bytes < chunk->bytes) {
      device = {};
      device = {.memory = ring_.port().allocate_device(chunk->bytes), .bytes = chunk->bytes};
    }
    return fillings_.emplace_back(Filling{.chunk = *chunk, .device = device.memory.get()});
  } catch (...) {
    ring_.give_back(*std::move(chunk));
    throw;
  }
}

/// Takes a chunk from the ring, without the lock, as that may have to wait: meanwhile other threads fill what is left
/// of the last one, and it can be sent off. REQUIRES: the caller has set `fetching_`.
StagingRing::Chunk StagedRecords::fetch(std::size_t room, std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  StagingRing::Chunk chunk;
  std::exception_ptr failure;
  try {
    chunk = ring_.take(room);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  fetching_ = false;
  fetched_.notify_all();
  if (failure) std::rethrow_exception(failure);
  return chunk;
}

void StagedRecords::close(Filling& filling) noexcept {
  if (filling.closed) return;
  filling.closed = true;
  if (filling.writers == 0) send(filling);
}

void StagedRecords::send(Filling& filling) noexcept {
  filling.sent = true;
  try {
    ring_.send(std::move(filling.chunk), filling.device, filling.used);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

bool StagedRecords::finish() {
  const std::lock_guard lock(mutex_);
  give_back_next();
  if (!fillings_.empty()) close(fillings_.back());
  if (failure_) std::rethrow_exception(failure_);
  return !fillings_.empty();
}

void StagedRecords::reset() noexcept {
  const std::lock_guard lock(mutex_);
  give_back_next();
  for (Filling& filling : fillings_) {
    if (!filling.sent) ring_.give_back(std::move(filling.chunk));
  }
  fillings_.clear();
  failure_ = nullptr;
}

void StagedRecords::give_back_next() noexcept {
  if (next_) ring_.give_back(*std::exchange(next_, std::nullopt));
}

}  // namespace imgpack::gpu
