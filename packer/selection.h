// Which entries of a source a build packs, in what order, and how they are divided among shards.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/index_permutation.h"
#include "packer/balanced_choice.h"
#include "packer/source.h"

namespace imgpack {

/// A sequence of entry numbers. Const functions are thread-safe.
class Selection {
 public:
  /// `limit` entries of `source` as choose_balanced() chooses them (0: all); with a seed, each run of entries of one
  /// split in shuffled order.
  Selection(const Source& source, std::uint64_t limit, std::optional<std::uint64_t> shuffle_seed);

  std::uint64_t size() const noexcept { return size_; }
  /// The entry at `position`. REQUIRES: position < size().
  std::uint64_t operator()(std::uint64_t position) const;

 private:
  /// Positions that are shuffled among themselves.
  struct Shuffle {
    std::uint64_t begin;
    std::uint64_t end;
    IndexPermutation permutation;
  };
  void shuffle(const Source& source, std::uint64_t seed);
  /// The entry at `position` in source order.
  std::uint64_t chosen(std::uint64_t position) const;

  std::uint64_t size_;
  std::vector<ChosenRun> runs_;    ///< empty if all are chosen
  std::vector<Shuffle> shuffles_;  ///< empty without shuffling
};

/// Positions [begin, end) of a selection that go into one file.
struct ShardRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// `count` ranges whose sizes differ by one at most.
std::vector<ShardRange> shards_by_count(std::uint64_t positions, std::uint32_t count);
/// As few ranges as keep each one's source bytes at `shard_size` or below; an entry larger than that has a range of its
/// own. Entry sizes must be known (SourceOptions::need_sizes).
std::vector<ShardRange> shards_by_size(const Source& source, const Selection& selection, std::uint64_t shard_size);

}  // namespace imgpack
