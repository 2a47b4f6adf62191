#include "tools/view/collection.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "imgpack/error.h"

namespace imgpack::tools {

namespace {

/// Labels without names beyond this are taken for nonsense.
constexpr std::int64_t kMostNamelessClasses = 1'000'000;

std::int64_t largest_label(const StoreReader& store) {
  std::int64_t largest = kNoLabel;
  for (std::uint64_t record = 0; record < store.size(); ++record) {
    try {
      largest = std::max(largest, store.meta(record).label);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::damaged) throw;  // found again, and reported, when its record is looked at
    }
  }
  return std::min(largest, kMostNamelessClasses - 1);
}

template <class Names, class NameOf>
std::vector<bool> wanted_of(const std::vector<std::string>& wanted, const Names& names, NameOf name_of,
                            std::string_view what) {
  if (wanted.empty()) return {};
  std::vector<bool> flags(names.size(), false);
  for (const std::string& name : wanted) {
    const auto found = std::ranges::find_if(names, [&](const auto& item) { return name_of(item) == name; });
    if (found == names.end()) {
      throw Error(ErrorCode::not_found, fmt::format("there is no {} {}; imgpack info lists what there is", what, name));
    }
    flags[static_cast<std::size_t>(found - names.begin())] = true;
  }
  return flags;
}

}  // namespace

Collection Collection::open(const std::vector<std::string>& files, const Selection& selection) {
  Collection collection;
  for (const std::string& file : files) collection.add(open_store(file), files.size() > 1);
  std::ranges::sort(collection.ranges_, {}, &SplitRange::begin);
  collection.select(selection);
  return collection;
}

void Collection::add(std::unique_ptr<StoreReader> store, bool one_of_several) {
  const std::uint64_t first = end_.empty() ? 0 : end_.back();
  add_splits(*store, first, one_of_several);
  class_map_.push_back(add_classes(*store));
  end_.push_back(first + store->size());
  stores_.push_back(std::move(store));
}

std::size_t Collection::split_named(const std::string& name) {
  const auto found = std::ranges::find(splits_, name);
  if (found != splits_.end()) return static_cast<std::size_t>(found - splits_.begin());
  splits_.push_back(name);
  return splits_.size() - 1;
}

void Collection::add_splits(const StoreReader& store, std::uint64_t first, bool one_of_several) {
  for (const Split& split : store.info().splits) {
    if (split.begin < split.end) ranges_.push_back({first + split.begin, first + split.end, split_named(split.name)});
  }
  if (one_of_several && store.info().splits.empty() && store.size() != 0) {
    ranges_.push_back({first, first + store.size(), split_named(store.path().filename().string())});
  }
}

std::vector<std::size_t> Collection::add_classes(const StoreReader& store) {
  std::vector<ClassInfo> own = store.info().classes;
  if (own.empty()) {
    const std::int64_t largest = largest_label(store);
    for (std::int64_t label = 0; label <= largest; ++label) own.push_back({.name = std::to_string(label), .words = ""});
  }
  std::unordered_map<std::string_view, std::size_t> known;
  for (std::size_t i = 0; i < classes_.size(); ++i) known.emplace(classes_[i].name, i);
  std::vector<std::size_t> map;
  std::vector<ClassInfo> added;
  for (const ClassInfo& item : own) {
    const auto [at, is_new] = known.emplace(item.name, classes_.size() + added.size());
    if (is_new) added.push_back(item);
    map.push_back(at->second);
  }
  classes_.insert(classes_.end(), added.begin(), added.end());
  return map;
}

void Collection::select(const Selection& selection) {
  wanted_splits_ = wanted_of(
      selection.splits, splits_, [](const std::string& name) { return name; }, "split");
  wanted_classes_ = wanted_of(
      selection.classes, classes_, [](const ClassInfo& item) { return item.name; }, "class");
}

bool Collection::selected(std::uint64_t record) const {
  if (!wanted_splits_.empty()) {
    const std::optional<std::size_t> split = split_of(record);
    if (!split || !wanted_splits_[*split]) return false;
  }
  if (wanted_classes_.empty()) return true;
  const std::optional<std::size_t> name = class_of(record, meta(record));
  return name && wanted_classes_[*name];
}

Collection::Place Collection::place(std::uint64_t record) const {
  const auto after = std::ranges::upper_bound(end_, record);
  if (after == end_.end()) throw Error(ErrorCode::invalid_argument, fmt::format("there is no record {}", record));
  const auto store = static_cast<std::size_t>(after - end_.begin());
  return {store, record - (store == 0 ? 0 : end_[store - 1])};
}

RecordMeta Collection::meta(std::uint64_t record) const {
  const Place at = place(record);
  return stores_[at.store]->meta(at.record);
}

std::string_view Collection::key(std::uint64_t record) const {
  const Place at = place(record);
  return stores_[at.store]->key(at.record);
}

RecordBytes Collection::bytes(std::uint64_t record) const {
  const Place at = place(record);
  return stores_[at.store]->bytes(at.record);
}

std::optional<std::size_t> Collection::split_of(std::uint64_t record) const {
  const auto after = std::ranges::upper_bound(ranges_, record, {}, &SplitRange::begin);
  if (after == ranges_.begin()) return std::nullopt;
  const SplitRange& range = *std::prev(after);
  return record < range.end ? std::optional(range.split) : std::nullopt;
}

std::optional<std::size_t> Collection::class_of(std::uint64_t record, const RecordMeta& meta) const {
  const std::vector<std::size_t>& map = class_map_[place(record).store];
  if (meta.label < 0 || static_cast<std::uint64_t>(meta.label) >= map.size()) return std::nullopt;
  return map[static_cast<std::size_t>(meta.label)];
}

void Collection::release(std::uint64_t begin, std::uint64_t end) const {
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    const std::uint64_t first = i == 0 ? 0 : end_[i - 1];
    const std::uint64_t from = std::max(begin, first);
    const std::uint64_t to = std::min(end, end_[i]);
    if (from < to) stores_[i]->release(from - first, to - from);
  }
}

}  // namespace imgpack::tools
