// Which records make up an epoch, in which order, and which of them are this rank's.
//
// The order is a function: position -> record, computed on demand from (seed, epoch), without a table. Batches are
// consecutive runs of it. So the sequence of global batches depends on (seed, epoch, global batch size) alone, a run
// can go on from any position, and on any number of ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "imgpack/dataset.h"

namespace imgpack {

enum class Shuffle : std::uint8_t {
  full,   ///< a permutation of all records, each equally likely at each position
  block,  ///< blocks of neighbouring records in random order, then shuffled within a window of blocks: long reads
  none,   ///< the order of the file, or of Sampling::records
};
/// "full", "block", "none".
std::string_view to_string(Shuffle shuffle) noexcept;
std::optional<Shuffle> shuffle_from_name(std::string_view name) noexcept;

/// What happens where the samples of an epoch do not fill the last global batch.
enum class LastBatch : std::uint8_t {
  partial,  ///< it is smaller. A rank that would get nothing of it gets one padding sample
  drop,     ///< it is left out
  pad,      ///< it is filled with padding samples, so that all batches have one size
};
std::string_view to_string(LastBatch last) noexcept;
std::optional<LastBatch> last_batch_from_name(std::string_view name) noexcept;

/// In which order.
struct Sampling {
  Shuffle shuffle = Shuffle::full;
  /// With Shuffle::block: records a block (0: about 4 MiB of payload), and blocks a window at most, besides what the
  /// last window has of records that fill no block. A window's payloads should fit in memory.
  std::uint64_t block_records = 0;
  std::uint64_t window_blocks = 64;
  /// With weights or several datasets, where "each record once" has no meaning. 0: as many as there are records.
  std::uint64_t samples_per_epoch = 0;
};

/// What is sampled of a dataset.
struct DatasetShare {
  Dataset dataset;
  std::string split = {};  ///< "" for all records
  /// Only these record numbers, in this order unless shuffled; instead of a split. May name a record several times.
  std::vector<std::uint64_t> records = {};
  /// Draws with replacement, in proportion to a weight for each class (records without a label are refused), or for
  /// each sampled record in their order; Sampling::shuffle has no meaning then. At most one of the two; finite, not
  /// negative, not all 0. Takes 16 bytes of memory a record.
  std::vector<double> class_weights = {};
  std::vector<double> record_weights = {};
  /// Where several datasets are mixed: of the samples, relative to the others'. Every 4096 samples hold the proportions
  /// as exactly as whole numbers can, at least one of each dataset. Each dataset is gone through again and again, in a
  /// new order each time and on through the epochs, so that all of it is seen however small its proportion.
  double proportion = 1;
};

/// A record to be loaded.
struct Sample {
  std::uint64_t record = 0;   ///< in its dataset
  std::uint32_t dataset = 0;  ///< number of its dataset
  bool padding = false;       ///< stands in for nothing: not to be counted
  /// Tells apart the occurrences of a record in one epoch, where it may come more than once; 0 otherwise.
  std::uint64_t draw = 0;
};

/// What Shuffle::block reads at a time.
struct SampleWindow {
  std::uint64_t end = 0;  ///< position behind the window's last
  std::vector<RecordRange> records;
};

/// How an epoch's samples are dealt out to ranks.
struct BatchShape {
  std::uint32_t global_batch_size = 0;  ///< of all ranks together, at least world_size
  std::uint32_t rank = 0;               ///< below world_size
  std::uint32_t world_size = 1;
  LastBatch last_batch = LastBatch::partial;
};

/// This rank's part of one global batch: positions [begin, end) of the epoch, then `padding` more samples.
struct BatchPart {
  std::uint64_t global_begin = 0;  ///< of the global batch
  std::uint64_t global_end = 0;    ///< at most samples()
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t padding = 0;
  std::uint64_t size() const noexcept { return end - begin + padding; }
};

/// Immutable and thread-safe.
class Sampler {
 public:
  /// Throws invalid_argument for options that contradict each other or the datasets, not_found for a split, damaged.
  static Sampler create(std::vector<DatasetShare> shares, const Sampling& sampling, std::uint64_t seed);
  /// The same with another seed.
  Sampler with_seed(std::uint64_t seed) const;

  /// Of an epoch.
  std::uint64_t samples() const noexcept;
  std::uint64_t seed() const noexcept;
  const std::vector<DatasetShare>& shares() const noexcept;
  /// The sample at a position of an epoch. REQUIRES: position < samples().
  Sample at(std::uint64_t epoch, std::uint64_t position) const;
  /// The same for positions [begin, begin + out.size()).
  void fill(std::uint64_t epoch, std::uint64_t begin, std::span<Sample> out) const;
  /// The window that `position` lies in: what is to be read ahead in long reads. Nothing where records are not read in
  /// blocks: other shuffles, lists, weights, mixtures.
  std::optional<SampleWindow> window(std::uint64_t epoch, std::uint64_t position) const;

  /// Tells what decides the order besides seed and epoch: datasets, splits, lists, weights, shuffle.
  std::uint64_t fingerprint() const;

 private:
  struct State;
  Sampler(std::shared_ptr<const State> state, std::uint64_t seed);
  std::shared_ptr<const State> state_;
  std::uint64_t seed_ = 0;
};

/// Global batches of an epoch of `samples` from position `first` on.
std::uint64_t batch_count(std::uint64_t samples, std::uint64_t first, const BatchShape& shape) noexcept;
/// The rank's part of the batch that begins at position `first`, which is below `samples`. Parts of all ranks, in order
/// of rank, make up the global batch; their sizes differ by one at most.
BatchPart batch_part(std::uint64_t samples, std::uint64_t first, const BatchShape& shape) noexcept;

}  // namespace imgpack
