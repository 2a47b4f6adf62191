// One thread's tools for making the samples of a chunk.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "reader/augment/sample_maker.h"
#include "reader/augment/sample_plan.h"
#include "reader/pipeline/batch_job.h"
#include "reader/pipeline/counters.h"
#include "reader/pipeline/work_plan.h"

namespace imgpack {

/// Not thread-safe.
class ChunkMaker {
 public:
  /// REQUIRES: both outlive it.
  ChunkMaker(const WorkPlan& plan, Counters& counters);

  /// Makes all samples of a chunk, or hands them to the job's device, or those before `cancelled` becomes true. What
  /// goes wrong is noted in the job.
  void make(BatchJob& job, std::size_t chunk, const std::atomic<bool>& cancelled) noexcept;

 private:
  void look_ahead(const BatchJob& job, std::size_t index, std::size_t end) const;
  void make_sample(BatchJob& job, std::size_t index, const FetchedRecord* fetched);
  /// What sample_plan_ says.
  ImageResult carry_out(const RecordMeta& meta, const RecordBytes& bytes, BatchJob& job, std::size_t index);
  ImageResult hand_over(const RecordMeta& meta, const RecordBytes& bytes, BatchJob& job, std::size_t index);

  const WorkPlan& plan_;
  Counters& counters_;
  SampleMaker maker_;
  SamplePlan sample_plan_;         ///< of the sample that is being made
  std::uint64_t bytes_read_ = 0;   ///< not counted yet
  std::uint64_t device_made_ = 0;  ///< not counted yet
};

}  // namespace imgpack
