#include "packer/pipeline.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "imgpack/error.h"

namespace imgpack {

PreparePipeline::PreparePipeline(const Source& source, std::function<std::uint64_t(std::uint64_t)> entry_at,
                                 std::uint64_t first, std::uint64_t end, const Options& options)
    : source_(source),
      entry_at_(std::move(entry_at)),
      first_(first),
      end_(end),
      options_(options),
      tickets_((end - first + kUnitEntries - 1) / kUnitEntries),
      units_(2 * std::size_t{options.threads} + 2) {
  for (Unit& unit : units_) unit.entries.resize(kUnitEntries);
  start_threads();
}

PreparePipeline::~PreparePipeline() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  room_.notify_all();
  threads_.clear();
}

void PreparePipeline::start_threads() {
  try {
    for (unsigned i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    // The machine gives no more of them. Fewer are slower, and the output does not depend on their number.
    if (threads_.empty()) throw Error(ErrorCode::io, fmt::format("cannot start a thread: {}", error.code().message()));
  }
}

void PreparePipeline::work() {
  std::optional<EntryPreparer> preparer;  // made where a failure to make it is reported
  while (true) {
    std::uint64_t ticket;
    {
      std::unique_lock lock(mutex_);
      if (stop_ || next_ticket_ == tickets_) return;
      ticket = next_ticket_++;
      room_.wait(lock, [&] { return stop_ || ticket < consumed_ + units_.size(); });
      if (stop_) return;
    }
    Unit& unit = units_[ticket % units_.size()];
    try {
      if (!preparer) preparer.emplace(source_, options_.prepare);
      fill(ticket, *preparer, unit);
    } catch (...) {
      unit.failure = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      unit.ready = true;
    }
    ready_.notify_one();
  }
}

bool PreparePipeline::wait_for_room(std::uint64_t ticket) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return stop_ || waiting_bytes_ < options_.max_bytes || ticket == consumed_; });
  return !stop_;
}

void PreparePipeline::fill(std::uint64_t ticket, EntryPreparer& preparer, Unit& unit) {
  unit.failure = nullptr;
  unit.count = 0;
  unit.bytes = 0;
  const std::uint64_t begin = first_ + ticket * kUnitEntries;
  const std::uint64_t end = std::min(begin + kUnitEntries, end_);
  for (std::uint64_t i = begin; i < end; ++i) {
    if (!wait_for_room(ticket)) return;
    PreparedEntry& prepared = unit.entries[unit.count];
    preparer.prepare(entry_at_(i), prepared);
    ++unit.count;
    const std::lock_guard lock(mutex_);
    unit.bytes += prepared.memory();
    waiting_bytes_ += prepared.memory();
  }
}

void PreparePipeline::recycle_last() {
  if (!holding_) return;
  Unit& unit = units_[consumed_ % units_.size()];
  for (PreparedEntry& prepared : unit.entries) prepared.trim(kKeptBuffer);
  {
    const std::lock_guard lock(mutex_);
    waiting_bytes_ -= unit.bytes;
    unit.ready = false;
    ++consumed_;
    holding_ = false;
  }
  room_.notify_all();
}

std::span<PreparedEntry> PreparePipeline::next() {
  recycle_last();
  if (consumed_ == tickets_) return {};
  Unit& unit = units_[consumed_ % units_.size()];
  {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return unit.ready; });
    holding_ = true;
  }
  if (unit.failure) std::rethrow_exception(unit.failure);
  return std::span(unit.entries).first(unit.count);
}

}  // namespace imgpack
