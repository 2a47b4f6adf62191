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
  if (sent_.empty() || (sent_.size() < chunks_ && !port_.is_sent(sent_.front().number))) {
    chunk.number = made_++;
    return chunk;
  }
  chunk = std::move(sent_.front());
  sent_.pop_front();
  lock.unlock();
  port_.wait(chunk.number);
  return chunk;
}

StagingRing::Chunk StagingRing::take(std::size_t bytes) {
  const std::size_t wanted = std::max(bytes, chunk_bytes_);
  Chunk chunk = take_any();
  if (chunk.bytes < bytes || chunk.bytes > std::max(wanted, kMostKept * chunk_bytes_)) {
    chunk.host.reset();
    chunk.host = port_.allocate_host(wanted);
    chunk.bytes = wanted;
  }
  return chunk;
}

void StagingRing::send(Chunk chunk, std::byte* device, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  port_.send(chunk.number, chunk.host.get(), device, bytes);
  sent_.push_back(std::move(chunk));
}

void StagingRing::give_back(Chunk chunk) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(chunk));
  } catch (...) {  // it is freed instead
  }
}

std::span<const std::byte> StagedRecords::put(std::span<const std::byte> bytes) {
  if (bytes.empty()) return bytes;
  const std::size_t room = kLine + ceil_div(bytes.size() + kMargin, kLine) * kLine;
  Filling* filling = nullptr;
  std::size_t offset = 0;
  {
    const std::lock_guard lock(mutex_);
    filling = fillings_.empty() ? nullptr : &fillings_.back();
    if (filling == nullptr || filling->closed || room > filling->chunk.bytes - filling->used) {
      if (filling != nullptr) close(*filling);
      filling = &begin(room);
    }
    offset = filling->used + kLine;
    filling->used += room;
    ++filling->writers;
  }
  std::memcpy(filling->chunk.host.get() + offset, bytes.data(), bytes.size());
  const std::span<const std::byte> placed{filling->device + offset, bytes.size()};
  end_writing(*filling);
  return placed;
}

StagedRecords::Filling& StagedRecords::begin(std::size_t room) {
  const std::size_t number = fillings_.size();
  StagingRing::Chunk chunk = ring_.take(room);
  try {
    if (number == device_.size()) device_.emplace_back();
    DeviceChunk& device = device_[number];
    if (device.bytes < chunk.bytes) {
      device = {};
      device = {.memory = ring_.port().allocate_device(chunk.bytes), .bytes = chunk.bytes};
    }
    return fillings_.emplace_back(Filling{.chunk = chunk, .device = device.memory.get()});
  } catch (...) {
    ring_.give_back(std::move(chunk));
    throw;
  }
}

void StagedRecords::close(Filling& filling) {
  if (filling.closed) return;
  filling.closed = true;
  if (filling.writers == 0) send(filling);
}

void StagedRecords::end_writing(Filling& filling) {
  const std::lock_guard lock(mutex_);
  --filling.writers;
  if (filling.closed && filling.writers == 0) send(filling);
}

void StagedRecords::send(Filling& filling) {
  filling.sent = true;
  ring_.send(std::move(filling.chunk), filling.device, filling.used);
}

bool StagedRecords::finish() {
  const std::lock_guard lock(mutex_);
  if (fillings_.empty()) return false;
  close(fillings_.back());
  return true;
}

void StagedRecords::reset() noexcept {
  const std::lock_guard lock(mutex_);
  for (Filling& filling : fillings_) {
    if (!filling.sent) ring_.give_back(std::move(filling.chunk));
  }
  fillings_.clear();
}

}  // namespace imgpack::gpu
