#include "tools/view/duplicates.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace imgpack::tools {

namespace {

/// Leakage first, then by first record.
bool comes_before(const DuplicateGroup& a, const DuplicateGroup& b) {
  return std::make_tuple(!a.leakage, a.members.front()) < std::make_tuple(!b.leakage, b.members.front());
}

/// One of each split, then the first others.
std::vector<std::uint64_t> choose_members(std::span<const PayloadHash> same, const GroupOf& split_of) {
  std::vector<std::uint64_t> members;
  std::vector<std::optional<std::size_t>> splits;
  for (const PayloadHash& entry : same) {
    if (members.size() == DuplicateGroup::kMostMembers) break;
    const std::optional<std::size_t> split = split_of(entry.record);
    if (std::ranges::find(splits, split) != splits.end()) continue;
    splits.push_back(split);
    members.push_back(entry.record);
  }
  for (const PayloadHash& entry : same) {
    if (members.size() == DuplicateGroup::kMostMembers) break;
    if (std::ranges::find(members, entry.record) == members.end()) members.push_back(entry.record);
  }
  std::ranges::sort(members);
  return members;
}

bool differ(std::span<const PayloadHash> same, const GroupOf& group_of) {
  const std::optional<std::size_t> first = group_of(same.front().record);
  return std::ranges::any_of(same, [&](const PayloadHash& entry) { return group_of(entry.record) != first; });
}

}  // namespace

Duplicates find_duplicates(std::vector<PayloadHash>& hashes, const GroupOf& split_of, const GroupOf& class_of,
                           std::size_t most_listed) {
  std::ranges::sort(hashes, [](const PayloadHash& a, const PayloadHash& b) {
    return std::tie(a.hash, a.record) < std::tie(b.hash, b.record);
  });
  Duplicates found;
  const std::span<const PayloadHash> all(hashes);
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].hash == all[begin].hash) ++end;
    const std::span<const PayloadHash> same = all.subspan(begin, end - begin);
    if (same.size() < 2) continue;
    DuplicateGroup group{.hash = same.front().hash,
                         .records = same.size(),
                         .members = choose_members(same, split_of),
                         .leakage = differ(same, split_of),
                         .conflict = differ(same, class_of)};
    ++found.groups;
    found.records += group.records;
    found.leakage_groups += group.leakage ? 1 : 0;
    found.leakage_records += group.leakage ? group.records : 0;
    found.conflict_groups += group.conflict ? 1 : 0;
    // A heap whose top is the one that would be dropped next.
    found.listed.push_back(std::move(group));
    std::ranges::push_heap(found.listed, comes_before);
    if (found.listed.size() > most_listed) {
      std::ranges::pop_heap(found.listed, comes_before);
      found.listed.pop_back();
    }
  }
  std::ranges::sort_heap(found.listed, comes_before);
  return found;
}

}  // namespace imgpack::tools
