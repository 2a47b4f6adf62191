#include "packer/selection.h"

#include <algorithm>

#include "imgpack/error.h"

namespace imgpack {

namespace {

constexpr std::size_t kMaxShards = 99'999;  // what five digits in a file name can count

}  // namespace

Selection::Selection(const Source& source, std::uint64_t limit, std::optional<std::uint64_t> shuffle_seed)
    : size_(limit == 0 ? source.size() : std::min(limit, source.size())) {
  if (size_ < source.size()) runs_ = choose_balanced(source, size_);
  if (shuffle_seed) shuffle(source, *shuffle_seed);
}

void Selection::shuffle(const Source& source, std::uint64_t seed) {
  SourceEntry entry;
  std::uint64_t begin = 0;
  std::uint32_t split = 0;
  for (std::uint64_t i = 0; i <= size_; ++i) {
    if (i < size_) source.entry(chosen(i), entry);
    if (i == size_ || (i > begin && entry.split != split)) {
      if (i > begin) {
        // Splits get different orders even where their sizes are equal.
        shuffles_.push_back({begin, i, IndexPermutation(i - begin, seed + 0x9e37'79b9 * shuffles_.size())});
      }
      begin = i;
    }
    split = entry.split;
  }
}

std::uint64_t Selection::chosen(std::uint64_t position) const {
  if (runs_.empty()) return position;
  const auto after = std::upper_bound(runs_.begin(), runs_.end(), position,
                                      [](std::uint64_t value, const ChosenRun& run) { return value < run.position; });
  const ChosenRun& run = *(after - 1);
  return run.entry + (position - run.position);
}

std::uint64_t Selection::operator()(std::uint64_t position) const {
  if (shuffles_.empty()) return chosen(position);
  const auto after =
      std::upper_bound(shuffles_.begin(), shuffles_.end(), position,
                       [](std::uint64_t value, const Shuffle& shuffle) { return value < shuffle.begin; });
  const Shuffle& shuffle = *(after - 1);
  return chosen(shuffle.begin + shuffle.permutation(position - shuffle.begin));
}

std::vector<ShardRange> shards_by_count(std::uint64_t positions, std::uint32_t count) {
  if (count > kMaxShards) throw Error(ErrorCode::invalid_argument, "there can be at most 99999 shards");
  std::vector<ShardRange> ranges;
  const std::uint64_t each = positions / count;
  const std::uint64_t larger = positions % count;  // the first so many hold one more
  std::uint64_t begin = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t end = begin + each + (i < larger ? 1 : 0);
    ranges.push_back({begin, end});
    begin = end;
  }
  return ranges;
}

std::vector<ShardRange> shards_by_size(const Source& source, const Selection& selection, std::uint64_t shard_size) {
  std::vector<ShardRange> ranges = {{0, 0}};
  std::uint64_t bytes = 0;
  SourceEntry entry;
  for (std::uint64_t position = 0; position < selection.size(); ++position) {
    source.entry(selection(position), entry);
    const bool full = bytes + entry.size > shard_size && position > ranges.back().begin;
    if (full) {
      if (ranges.size() == kMaxShards) {
        throw Error(ErrorCode::invalid_argument, "the shard size is too small: there would be over 99999 shards");
      }
      ranges.push_back({position, position});
      bytes = 0;
    }
    bytes += entry.size;
    ranges.back().end = position + 1;
  }
  return ranges;
}

}  // namespace imgpack
