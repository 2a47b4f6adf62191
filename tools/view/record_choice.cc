#include "tools/view/record_choice.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "imgpack/error.h"

namespace imgpack::tools {

namespace {

constexpr std::string_view kNoClass = "(no class)";
constexpr std::string_view kNoSplit = "(no split)";

/// Calls `visit(record, class)` for selected records whose index entry can be read, until it returns false.
void visit_selected(const Collection& collection, const std::function<bool(std::uint64_t, std::size_t)>& visit) {
  for (std::uint64_t record = 0; record < collection.size(); ++record) {
    std::size_t item = collection.classes().size();
    try {
      if (!collection.selected(record)) continue;
      item = collection.class_of(record, collection.meta(record)).value_or(item);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::damaged) throw;
      continue;
    }
    if (!visit(record, item)) return;
  }
}

std::uint64_t most_per_class(const ChoiceOptions& options) {
  return options.per_class == 0 ? std::numeric_limits<std::uint64_t>::max() : options.per_class;
}

/// Lets only so many of each class through.
class ClassQuota {
 public:
  ClassQuota(const Collection& collection, const ChoiceOptions& options)
      : most_(most_per_class(options)), seen_(collection.classes().size() + 1, 0) {}
  bool admit(std::size_t item) { return seen_[item]++ < most_; }

 private:
  std::uint64_t most_;
  std::vector<std::uint64_t> seen_;
};

std::vector<ShownGroup> choose_in_order(const Collection& collection, const ChoiceOptions& options) {
  ShownGroup all;
  ClassQuota quota(collection, options);
  visit_selected(collection, [&](std::uint64_t record, std::size_t item) {
    ++all.records;
    if (all.shown.size() < options.limit && quota.admit(item)) all.shown.push_back(record);
    return true;
  });
  std::vector<ShownGroup> groups;
  groups.push_back(std::move(all));
  return groups;
}

std::vector<ShownGroup> named_groups(const Collection& collection, ShowBy by) {
  std::vector<ShownGroup> groups;
  if (by == ShowBy::split) {
    for (const std::string& name : collection.splits()) groups.push_back({.name = name, .records = 0, .shown = {}});
  } else {
    for (const ClassInfo& item : collection.classes()) {
      groups.push_back(
          {.name = item.words.empty() ? item.name : item.name + " · " + item.words, .records = 0, .shown = {}});
    }
  }
  groups.push_back({.name = std::string(by == ShowBy::split ? kNoSplit : kNoClass), .records = 0, .shown = {}});
  return groups;
}

}  // namespace

std::optional<ShowBy> show_by_from_name(std::string_view name) noexcept {
  if (name == "order") return ShowBy::order;
  if (name == "class") return ShowBy::name_of_class;
  if (name == "split") return ShowBy::split;
  if (name == "damage") return ShowBy::damage;
  return std::nullopt;
}

std::vector<std::uint64_t> fair_shares(const std::vector<std::uint64_t>& sizes, std::uint64_t limit) {
  std::vector<std::uint64_t> shares(sizes.size(), 0);
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return sizes[i]; });
  std::uint64_t left = limit;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint64_t waiting = order.size() - i;
    if (sizes[order[i]] > left / waiting) {  // so are the sizes of all that wait
      const std::uint64_t share = left / waiting;
      for (std::size_t k = i; k < order.size(); ++k) shares[order[k]] = share;
      left -= share * waiting;
      break;
    }
    shares[order[i]] = sizes[order[i]];
    left -= shares[order[i]];
  }
  // What division left over goes, one each, to the first that have more.
  for (std::size_t i = 0; i < sizes.size() && left > 0; ++i) {
    if (shares[i] == sizes[i]) continue;
    ++shares[i];
    --left;
  }
  return shares;
}

std::vector<ShownGroup> choose_records(const Collection& collection, const ChoiceOptions& options) {
  if (options.by == ShowBy::order) return choose_in_order(collection, options);
  std::vector<ShownGroup> groups = named_groups(collection, options.by);
  const auto group_of = [&](std::uint64_t record, std::size_t item) {
    return options.by == ShowBy::split ? collection.split_of(record).value_or(groups.size() - 1) : item;
  };
  std::vector<std::uint64_t> candidates(groups.size(), 0);
  ClassQuota quota(collection, options);
  const bool split = options.by == ShowBy::split;
  visit_selected(collection, [&](std::uint64_t record, std::size_t item) {
    const std::size_t group = group_of(record, item);
    ++groups[group].records;
    if (!split || quota.admit(item)) ++candidates[group];
    return true;
  });
  std::vector<std::uint64_t> sizes = candidates;
  if (!split) {
    for (std::uint64_t& size : sizes) size = std::min(size, most_per_class(options));
  }
  const std::vector<std::uint64_t> shares = fair_shares(sizes, options.limit);
  std::vector<std::uint64_t> seen(groups.size(), 0);
  ClassQuota again(collection, options);
  visit_selected(collection, [&](std::uint64_t record, std::size_t item) {
    if (split && !again.admit(item)) return true;
    const std::size_t group = group_of(record, item);
    const std::uint64_t number = seen[group]++;
    const std::uint64_t taken = groups[group].shown.size();
    // The one that is taken next: evenly spread over the group.
    if (taken < shares[group] && number == taken * candidates[group] / shares[group]) {
      groups[group].shown.push_back(record);
    }
    return true;
  });
  std::erase_if(groups, [](const ShownGroup& group) { return group.shown.empty(); });
  return groups;
}

std::vector<ShownGroup> choose_by_damage(const Collection& collection, const DatasetFacts& facts,
                                         const ChoiceOptions& options) {
  std::vector<ShownGroup> groups;
  std::vector<std::uint64_t> named;
  std::uint64_t left = options.limit;
  std::uint64_t others = facts.records;
  constexpr std::pair<Suspicion, std::string_view> kGroups[] = {
      {Suspicion::damaged, "damaged"},
      {Suspicion::incomplete, "JPEG that does not decode cleanly to its end"},
      {Suspicion::not_decoded, "not decoded"}};
  for (const auto& [kind, name] : kGroups) {
    ShownGroup group{.name = std::string(name), .records = facts.findings.count(kind), .shown = {}};
    others -= group.records;
    for (const Finding& finding : facts.findings.kept(kind)) {
      named.push_back(finding.record);
      if (group.shown.size() < left) group.shown.push_back(finding.record);
    }
    left -= group.shown.size();
    if (!group.shown.empty()) groups.push_back(std::move(group));
  }
  std::ranges::sort(named);
  ShownGroup whole{.name = "whole", .records = others, .shown = {}};
  ClassQuota quota(collection, options);
  // Findings beyond those that were kept can't be told from others: then no others are shown.
  const bool all_named = named.size() == facts.records - others;
  visit_selected(collection, [&](std::uint64_t record, std::size_t item) {
    if (!all_named || whole.shown.size() >= left) return false;
    if (!std::ranges::binary_search(named, record) && quota.admit(item)) whole.shown.push_back(record);
    return true;
  });
  if (!whole.shown.empty()) groups.push_back(std::move(whole));
  return groups;
}

}  // namespace imgpack::tools
