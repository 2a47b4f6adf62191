// The order of one dataset: which records are sampled, and which of them comes at a position of a pass.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "imgpack/sampler.h"
#include "reader/sampling/alias_table.h"
#include "reader/sampling/permutation.h"

namespace imgpack {

/// Immutable and thread-safe.
class DatasetOrder {
 public:
  /// Throws invalid_argument, not_found, damaged.
  DatasetOrder(const DatasetShare& share, const Sampling& sampling);

  /// Records that can be sampled: those of the split, or of the list.
  std::uint64_t size() const noexcept { return size_; }
  /// Whether the list names a record several times.
  bool repeats() const noexcept { return repeats_; }
  bool weighted() const noexcept { return !weights_.empty(); }
  /// Whether windows of blocks are ranges of the file.
  bool in_blocks() const noexcept { return shuffle_ == Shuffle::block && list_.empty() && !weighted(); }
  /// Appends the records of indices [begin, end).
  void append_ranges(std::uint64_t begin, std::uint64_t end, std::vector<RecordRange>& out) const;
  const AliasTable& weights() const noexcept { return weights_; }
  Shuffle shuffle() const noexcept { return shuffle_; }
  std::uint64_t block_records() const noexcept { return block_records_; }
  /// At most; the windows of an order differ by one block.
  std::uint64_t window_blocks() const noexcept { return window_blocks_; }
  /// The record that stands at `index` in the file's or the list's order. REQUIRES: index < size().
  std::uint64_t record(std::uint64_t index) const noexcept;

 private:
  void choose_records(const DatasetShare& share);
  void choose_blocks(const DatasetShare& share, const Sampling& sampling);
  void choose_weights(const DatasetShare& share);

  std::vector<RecordRange> ranges_;
  std::vector<std::uint64_t> range_begins_;  ///< index of the first record of each range
  std::vector<std::uint64_t> list_;          ///< instead of ranges
  bool repeats_ = false;
  std::uint64_t size_ = 0;
  Shuffle shuffle_ = Shuffle::full;
  std::uint64_t block_records_ = 0;
  std::uint64_t window_blocks_ = 0;
  AliasTable weights_;
};

/// Computes positions of passes through a DatasetOrder; keeps what neighbouring positions have in common. Not
/// thread-safe. REQUIRES: `order` outlives it.
class OrderCursor {
 public:
  OrderCursor(const DatasetOrder& order, std::uint64_t seed, std::uint64_t epoch, std::uint32_t dataset) noexcept
      : order_(&order), seed_(seed), epoch_(epoch), dataset_(dataset) {}

  /// The window around `position` of pass 0. REQUIRES: order.in_blocks().
  SampleWindow window(std::uint64_t position);
  /// The sample at `position` of pass `pass`; with weights of an endless sequence, where `pass` has no meaning.
  Sample at(std::uint64_t pass, std::uint64_t position);

 private:
  struct WindowPlace {
    std::uint64_t number = 0;
    std::uint64_t begin = 0;  ///< positions [begin, end)
    std::uint64_t end = 0;
  };
  WindowPlace window_at(std::uint64_t position) const noexcept;
  /// From a place in the order of blocks to an index.
  std::uint64_t index_at(std::uint64_t place) const noexcept;
  std::uint64_t blockwise(std::uint64_t pass, std::uint64_t position);
  void begin_pass(std::uint64_t pass);

  const DatasetOrder* order_;
  std::uint64_t seed_;
  std::uint64_t epoch_;
  std::uint32_t dataset_;
  std::optional<std::uint64_t> pass_;
  std::uint64_t key_ = 0;
  std::optional<Permutation> all_;  ///< of records, or of blocks
  std::uint64_t shift_ = 0;         ///< blocks begin at this record
  std::uint64_t window_number_ = 0;
  std::optional<Permutation> window_;  ///< of the records of window_number_
};

}  // namespace imgpack
