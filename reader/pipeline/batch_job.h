// A batch in the making: its samples, its memory, and how far it has come. Chunks of it are made on different threads.
//
// On the CPU: chunks made -> finish() -> take(). With a device: chunks made -> submit() -> finish(), which waits ->
// take().
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "imgpack/error.h"
#include "imgpack/sampler.h"
#include "reader/augment/batch_mixer.h"
#include "reader/pipeline/batch_device.h"
#include "reader/pipeline/batch_memory.h"
#include "reader/pipeline/record_source.h"
#include "reader/pipeline/work_plan.h"

namespace imgpack {

class BatchJob {
 public:
  /// What a run knows of a batch.
  struct Place {
    std::uint64_t epoch = 0;
    std::uint64_t first = 0;  ///< position of the global batch
    std::uint64_t seed = 0;
    std::uint64_t order = 0;  ///< for the state
  };

  /// Draws the samples and takes memory. Throws std::bad_alloc, and what the pool's device throws. REQUIRES: plan
  /// outlives the job.
  BatchJob(const WorkPlan& plan, const Place& place, BatchPool& pool);

  const BatchPart& part() const noexcept { return part_; }
  /// Of this rank, and behind them, if batches are mixed and it is another rank's, the one before the first.
  const std::vector<Sample>& samples() const noexcept { return samples_; }
  /// Who makes the samples, until the batch is finished; nullptr: the CPU.
  DeviceJob* device() const noexcept { return device_.get(); }
  /// Where sample number `index` goes.
  std::byte* image(std::size_t index) const noexcept { return memory_->image(index); }
  void set_label(std::size_t index, std::int64_t label) noexcept { labels_[index] = label; }
  std::uint64_t augment_key(const Sample& sample) const noexcept;

  std::size_t chunks() const noexcept { return chunks_; }
  /// Samples [begin, end) of a chunk.
  std::pair<std::size_t, std::size_t> chunk(std::size_t number) const noexcept;
  /// Records of a chunk that were read ahead, empty where they come from the mapping. Set before the chunk is made.
  std::vector<FetchedRecord>& fetched(std::size_t chunk) noexcept { return fetched_[chunk]; }

  /// Notes that sample number `index` can't be made. Thread-safe.
  void fail(std::size_t index, Error error);
  /// Notes that the whole batch can't be made. Thread-safe; the first one counts.
  void fail(std::exception_ptr error) noexcept;

  /// Once all chunks have been made, with a device: lets it begin. Not thread-safe.
  void submit() noexcept;
  /// Once all chunks have been made: waits for the device, puts copies in the place of damaged records, mixes. What
  /// goes wrong is told by take(). Not thread-safe.
  void finish() noexcept;
  /// Waits for what the device is doing for this batch, which will never be finished.
  void abandon_device() noexcept { device_.reset(); }
  /// That the device took for this batch, after finish().
  double device_seconds() const noexcept { return device_seconds_; }
  /// The finished batch. Throws what went wrong.
  Batch take();
  /// Of this batch's own records.
  const std::vector<Damage>& damage() const noexcept { return damage_; }

 private:
  void draw_samples();
  void describe();
  void collect_device_damage();
  void mend();
  /// Returns whether there was anything to take copies of.
  bool substitute(std::span<const std::size_t> failed);
  void copy_image(std::size_t to, std::size_t from);
  void clear_image(std::size_t index);
  Mix drawn_mix() const;
  void make_labels();
  void mix_images();
  BatchLabels labels_of_batch() const noexcept;

  const WorkPlan& plan_;
  Place place_;
  BatchPart part_;
  std::vector<Sample> samples_;
  bool has_neighbour_ = false;
  std::vector<std::int64_t> labels_;  ///< of samples_
  std::shared_ptr<BatchMemory> memory_;
  std::unique_ptr<DeviceJob> device_;  ///< works on the memory, and has to go before it
  bool labels_made_ = false;           ///< those of the batch, from labels_
  bool queued_ = false;                ///< something that the device has not been waited for
  double device_seconds_ = 0;
  std::size_t chunks_ = 0;
  std::vector<std::vector<FetchedRecord>> fetched_;
  std::vector<Damage> damage_;

  std::mutex mutex_;  ///< of what follows
  std::vector<std::pair<std::size_t, Error>> failures_;
  std::exception_ptr error_;
};

}  // namespace imgpack
