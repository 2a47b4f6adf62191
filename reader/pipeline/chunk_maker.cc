#include "reader/pipeline/chunk_maker.h"

#include <exception>
#include <optional>
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

void ChunkMaker::make(BatchJob& job, std::size_t chunk, const std::atomic<bool>& cancelled) noexcept {
  StopWatch watch;
  const auto [begin, end] = job.chunk(chunk);
  std::vector<FetchedRecord>& fetched = job.fetched(chunk);
  try {
    for (std::size_t index = begin; index < end; ++index) {
      if (cancelled.load(std::memory_order_relaxed)) return;
      if (fetched.empty()) look_ahead(job, index, end);
      try {
        make_sample(job, index, fetched.empty() ? nullptr : &fetched[index - begin]);
      } catch (const Error& error) {
        if (!is_damage(error)) throw;
        job.fail(index, error);
      }
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

/// Has the record of a later sample brought into the caches while this one is planned for the device. Where the host
/// decodes, what that saves is nothing beside it.
void ChunkMaker::look_ahead(const BatchJob& job, std::size_t index, std::size_t end) const {
  constexpr std::size_t kAhead = 2;
  if (job.device() == nullptr || end - index <= kAhead) return;
  const Sample& sample = job.samples()[index + kAhead];
  try {
    prefetch_record(plan_.sampler.shares()[sample.dataset].dataset.store().bytes(sample.record));
  } catch (const Error&) {  // damaged: whoever makes it will find the same
  }
}

void ChunkMaker::make_sample(BatchJob& job, std::size_t index, const FetchedRecord* fetched) {
  const Sample& sample = job.samples()[index];
  const StoreReader& store = plan_.sampler.shares()[sample.dataset].dataset.store();
  const RecordMeta meta = store.meta(sample.record);
  const RecordBytes bytes =
      fetched != nullptr && fetched->memory != nullptr ? fetched->bytes : store.bytes(sample.record);
  job.set_label(index, meta.label);
  bytes_read_ += bytes.payload.size() + bytes.segments.size();
  ImageResult result = check_image_size(meta, plan_.options.max_pixels);
  if (result.ok() && plan_.options.verify_checksums) result = check_bytes(meta, bytes);
  if (result.ok()) {
    auto reason = plan_.augmenter.plan(job.augment_key(sample), sample.record, {meta.width, meta.height}, sample_plan_);
    if (reason) {
      result = {ImageStatus::unsupported, *std::move(reason)};
    } else {
      const Size size = sample_plan_.size();
      if (size != Size{plan_.format.image.width, plan_.format.image.height}) {
        throw record_error(
            store, sample.record, ErrorCode::invalid_argument,
            fmt::format("it becomes {}x{} pixels, others {}x{}: a batch needs a transform that gives all "
                        "images one size",
                        size.width, size.height, plan_.format.image.width, plan_.format.image.height));
      }
      result = carry_out(meta, bytes, job, index);
    }
  }
  if (!result.ok()) throw record_error(store, sample.record, result);
}

ImageResult ChunkMaker::carry_out(const RecordMeta& meta, const RecordBytes& bytes, BatchJob& job, std::size_t index) {
  if (job.device() == nullptr) return maker_.make(meta, bytes, sample_plan_, job.image(index));
  return hand_over(meta, bytes, job, index);
}

/// The device makes what it can, later; the rest is made here and now.
ImageResult ChunkMaker::hand_over(const RecordMeta& meta, const RecordBytes& bytes, BatchJob& job, std::size_t index) {
  std::optional<PayloadPlace> file;
  if (plan_.options.transport == Transport::gds) {
    const Sample& sample = job.samples()[index];
    file = plan_.sampler.shares()[sample.dataset].dataset.store().place(sample.record);
  }
  DeviceJob::Placement placement = job.device()->add(index, meta, bytes, sample_plan_, file ? &*file : nullptr);
  if (placement.result.ok() && placement.host_image != nullptr) {
    return maker_.make(meta, bytes, sample_plan_, placement.host_image);
  }
  if (placement.result.ok()) ++device_made_;
  return std::move(placement.result);
}

}  // namespace imgpack
