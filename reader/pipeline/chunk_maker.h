// One thread's tools for making the samples of a chunk.
#pragma once

#include <array>
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
  /// What is known of a sample before its image is made.
  struct Prepared {
    RecordMeta meta;
    RecordBytes bytes;
    SamplePlan plan;
    bool good = false;  ///< nothing has been wrong with it so far
  };
  struct Samples;

  Prepared& prepared(std::size_t index) noexcept { return prepared_[index % prepared_.size()]; }
  const StoreReader& store_of(const Sample& sample) const;
  /// Takes a step for each of the samples that is good. Damage is noted in the job.
  template <class Step>
  void for_each_good(const Samples& samples, Step step);

  // The steps, in their order.
  void announce(const Samples& samples) const;
  void find(const Samples& samples);
  void find(const Samples& samples, std::size_t index);
  void draw(BatchJob& job, std::size_t index);
  void carry_out(BatchJob& job, std::size_t index);
  ImageResult hand_over(const Prepared& sample, BatchJob& job, std::size_t index);

  static constexpr std::size_t kGroup = 8;  ///< samples that a step is taken for in a row

  const WorkPlan& plan_;
  Counters& counters_;
  SampleMaker maker_;
  std::array<Prepared, 2 * kGroup> prepared_;  ///< the group that is made and the one behind it
  std::uint64_t bytes_read_ = 0;               ///< not counted yet
  std::uint64_t device_made_ = 0;              ///< not counted yet
};

}  // namespace imgpack
