#include "packer/balanced_choice.h"

#include <algorithm>
#include <map>

namespace imgpack {

namespace {

__extension__ using Wide = unsigned __int128;

struct Tally {
  std::uint64_t entries = 0;
  std::uint64_t share = 0;  ///< of these, how many are chosen
  std::uint64_t seen = 0;
};

/// By label.
using Classes = std::map<std::int64_t, Tally>;

struct SplitTally {
  Tally all;
  Classes classes;
};

/// By split.
using Splits = std::map<std::uint32_t, SplitTally>;

Splits count_entries(const Source& source) {
  Splits splits;
  SourceEntry entry;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    source.entry(i, entry);
    SplitTally& split = splits[entry.split];
    ++split.all.entries;
    ++split.classes[entry.label].entries;
  }
  return splits;
}

/// Largest remainder, with one at least for each if `limit` suffices for that. REQUIRES: limit <= total.
void share_among_splits(Splits& splits, std::uint64_t limit, std::uint64_t total) {
  struct Claim {
    Tally* tally;
    std::uint64_t remainder;
  };
  const bool one_each = limit >= splits.size();
  std::vector<Claim> claims;
  std::uint64_t given = 0;
  for (auto& [number, split] : splits) {
    const Wide exact = Wide{limit} * split.all.entries;
    split.all.share = static_cast<std::uint64_t>(exact / total);
    if (one_each && split.all.share == 0) {
      split.all.share = 1;
    } else {
      claims.push_back({&split.all, static_cast<std::uint64_t>(exact % total)});
    }
    given += split.all.share;
  }
  std::stable_sort(claims.begin(), claims.end(),
                   [](const Claim& a, const Claim& b) { return a.remainder > b.remainder; });
  // Less is left than there are claims, since each of them lost less than one.
  for (std::size_t i = 0; given < limit; ++i, ++given) ++claims[i].tally->share;
  for (; given > limit; --given) {
    const auto smaller = [](const Claim& a, const Claim& b) { return a.tally->share < b.tally->share; };
    --std::max_element(claims.begin(), claims.end(), smaller)->tally->share;
  }
}

/// What classes have given together after `rounds` turns.
std::uint64_t given_after(const Classes& classes, std::uint64_t rounds) {
  std::uint64_t sum = 0;
  for (const auto& [label, tally] : classes) sum += std::min(tally.entries, rounds);
  return sum;
}

/// REQUIRES: the split has `all.share` entries.
void share_among_classes(SplitTally& split) {
  // The number of whole rounds lies in [low, high).
  std::uint64_t low = 0;
  std::uint64_t high = split.all.share + 1;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (given_after(split.classes, middle) <= split.all.share ? low : high) = middle;
  }
  std::uint64_t left = split.all.share - given_after(split.classes, low);
  for (auto& [label, tally] : split.classes) {
    tally.share = std::min(tally.entries, low);
    if (left == 0 || tally.entries == tally.share) continue;
    ++tally.share;
    --left;
  }
}

std::vector<ChosenRun> collect_runs(const Source& source, Splits& splits) {
  std::vector<ChosenRun> runs;
  std::uint64_t chosen = 0;
  bool open = false;
  SourceEntry entry;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    source.entry(i, entry);
    Tally& tally = splits[entry.split].classes[entry.label];
    const bool taken = tally.seen++ < tally.share;
    if (taken && !open) runs.push_back({.position = chosen, .entry = i});
    open = taken;
    chosen += taken ? 1 : 0;
  }
  return runs;
}

}  // namespace

std::vector<ChosenRun> choose_balanced(const Source& source, std::uint64_t limit) {
  limit = std::min(limit, source.size());
  if (limit == 0) return {};
  Splits splits = count_entries(source);
  share_among_splits(splits, limit, source.size());
  for (auto& [number, split] : splits) share_among_classes(split);
  return collect_runs(source, splits);
}

}  // namespace imgpack
