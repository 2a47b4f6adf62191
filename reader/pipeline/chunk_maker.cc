#include "reader/pipeline/chunk_maker.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "codec/decode.h"
#include "codec/other/other_image.h"
#include "imgpack/error.h"
#include "reader/prefetch.h"
#include "reader/record_error.h"

namespace imgpack {

namespace {

/// Errors of which a record is to blame; others end the epoch whatever the policy.
bool is_damage(const Error& error) noexcept {
  switch (error.code()) {
    case ErrorCode::damaged:
    case ErrorCode::unsupported:
    case ErrorCode::out_of_memory:
      return true;
    default:
      return false;
  }
}

ImageResult check_bytes(const RecordMeta& meta, const RecordBytes& bytes) {
  if (record_checksum(bytes.payload, bytes.segments) == meta.checksum) return {};
  return {ImageStatus::damaged, "its bytes do not have the checksum that its record says"};
}

/// Whether a core's caches have forgotten a sample before its batch is handed out.
bool outgrows_caches(const WorkPlan& plan) {
  constexpr std::size_t kMostCached = std::size_t{8} << 20;
  // Both read the batch as soon as it is complete.
  if (plan.mixer || plan.device.is_cuda()) return false;
  return plan.format.image_bytes() * plan.options.batch_size > kMostCached;
}

}  // namespace

ChunkMaker::ChunkMaker(const WorkPlan& plan, Counters& counters)
    : plan_(plan),
      counters_(counters),
      maker_(plan.augmenter.format(), &decode_other_image, plan.options.max_pixels, outgrows_caches(plan)) {}

/// Some of a chunk's samples, or none.
struct ChunkMaker::Samples {
  BatchJob& job;
  std::size_t begin;
  std::size_t end;
  std::span<const FetchedRecord> fetched;  ///< theirs, or empty

  /// `count` of them from number `first` on, as far as there are any.
  Samples some(std::size_t first, std::size_t count) const {
    const std::size_t from = std::min(begin + first, end);
    const std::size_t to = std::min(from + count, end);
    return {job, from, to, fetched.empty() ? fetched : fetched.subspan(from - begin, to - from)};
  }
};

/// Records are in random order, so that each brings cache misses: of its entry in the index, of its header, of its
/// segment index. One after the other they would take longer than all that a device leaves to the host. So each step is
/// taken for a group of samples, and has what the next one will read brought in; entries two groups ahead, records one.
void ChunkMaker::make(BatchJob& job, std::size_t chunk, const std::atomic<bool>& cancelled) noexcept {
  StopWatch watch;
  const auto [begin, end] = job.chunk(chunk);
  std::vector<FetchedRecord>& fetched = job.fetched(chunk);
  const Samples all = {job, begin, end, fetched};
  const auto is_cancelled = [&cancelled] { return cancelled.load(std::memory_order_relaxed); };
  try {
    announce(all.some(0, 2 * kGroup));
    find(all.some(0, kGroup));
    for (std::size_t first = 0; first < end - begin && !is_cancelled(); first += kGroup) {
      announce(all.some(first + 2 * kGroup, kGroup));
      find(all.some(first + kGroup, kGroup));
      const Samples group = all.some(first, kGroup);
      for_each_good(group, [&](std::size_t index) { draw(job, index); });
      for_each_good(group, [&](std::size_t index) {
        if (!is_cancelled()) carry_out(job, index);
      });
    }
  } catch (...) {
    job.fail(std::current_exception());
  }
  fetched.clear();
  count(counters_.bytes_read, std::exchange(bytes_read_, 0));
  count(counters_.device_made, std::exchange(device_made_, 0));
  count(counters_.decode_ns, watch.lap());
  count(counters_.made, end - begin);
}

const StoreReader& ChunkMaker::store_of(const Sample& sample) const {
  return plan_.sampler.shares()[sample.dataset].dataset.store();
}

template <class Step>
void ChunkMaker::for_each_good(const Samples& samples, Step step) {
  for (std::size_t index = samples.begin; index < samples.end; ++index) {
    if (!prepared(index).good) continue;
    try {
      step(index);
    } catch (const Error& error) {
      if (!is_damage(error)) throw;
      prepared(index).good = false;
      samples.job.fail(index, error);
    }
  }
}

void ChunkMaker::announce(const Samples& samples) const {
  for (std::size_t index = samples.begin; index < samples.end; ++index) {
    const Sample& sample = samples.job.samples()[index];
    store_of(sample).prefetch_entry(sample.record);
  }
}

void ChunkMaker::find(const Samples& samples) {
  for (std::size_t index = samples.begin; index < samples.end; ++index) prepared(index).good = true;
  for_each_good(samples, [&](std::size_t index) { find(samples, index); });
  // In a loop of its own: see prefetch.h.
  for_each_good(samples, [&](std::size_t index) { prefetch_record(prepared(index).bytes); });
}

void ChunkMaker::find(const Samples& samples, std::size_t index) {
  const Sample& sample = samples.job.samples()[index];
  const StoreReader& store = store_of(sample);
  Prepared& found = prepared(index);
  found.meta = store.meta(sample.record);
  const FetchedRecord* fetched = samples.fetched.empty() ? nullptr : &samples.fetched[index - samples.begin];
  found.bytes = fetched != nullptr && fetched->memory != nullptr ? fetched->bytes : store.bytes(sample.record);
}

/// Checks the record and draws what is done to it.
void ChunkMaker::draw(BatchJob& job, std::size_t index) {
  const Sample& sample = job.samples()[index];
  Prepared& drawn = prepared(index);
  job.set_label(index, drawn.meta.label);
  bytes_read_ += drawn.bytes.payload.size() + drawn.bytes.segments.size();
  ImageResult result = check_image_size(drawn.meta, plan_.options.max_pixels);
  if (result.ok() && plan_.options.verify_checksums) result = check_bytes(drawn.meta, drawn.bytes);
  if (result.ok()) {
    auto reason =
        plan_.augmenter.plan(job.augment_key(sample), sample.record, {drawn.meta.width, drawn.meta.height}, drawn.plan);
    if (reason) result = {ImageStatus::unsupported, *std::move(reason)};
  }
  if (!result.ok()) throw record_error(store_of(sample), sample.record, result);
  const Size size = drawn.plan.size();
  if (size != Size{plan_.format.image.width, plan_.format.image.height}) {
    throw record_error(store_of(sample), sample.record, ErrorCode::invalid_argument,
                       fmt::format("it becomes {}x{} pixels, others {}x{}: a batch needs a transform that gives all "
                                   "images one size",
                                   size.width, size.height, plan_.format.image.width, plan_.format.image.height));
  }
  prefetch_tables(drawn.bytes);
  prefetch_entries(drawn.bytes, drawn.plan.stages.front().crop, drawn.meta.height);
}

void ChunkMaker::carry_out(BatchJob& job, std::size_t index) {
  const Prepared& sample = prepared(index);
  const ImageResult result = job.device() == nullptr
                                 ? maker_.make(sample.meta, sample.bytes, sample.plan, job.image(index))
                                 : hand_over(sample, job, index);
  const Sample& record = job.samples()[index];
  if (!result.ok()) throw record_error(store_of(record), record.record, result);
}

/// The device makes what it can, later; the rest is made here and now.
ImageResult ChunkMaker::hand_over(const Prepared& sample, BatchJob& job, std::size_t index) {
  std::optional<PayloadPlace> file;
  if (plan_.options.transport == Transport::gds) {
    const Sample& record = job.samples()[index];
    file = store_of(record).place(record.record);
  }
  DeviceJob::Placement placement =
      job.device()->add(index, sample.meta, sample.bytes, sample.plan, file ? &*file : nullptr);
  if (placement.result.ok() && placement.host_image != nullptr) {
    return maker_.make(sample.meta, sample.bytes, sample.plan, placement.host_image);
  }
  if (placement.result.ok()) ++device_made_;
  return std::move(placement.result);
}

}  // namespace imgpack
