#include "tools/selection.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "imgpack/error.h"
#include "tools/numbers.h"

namespace imgpack::tools {

namespace {

/// [begin, end)
using Range = std::pair<std::uint64_t, std::uint64_t>;

[[noreturn]] void throw_not_found(const StoreReader& store, std::string message) {
  throw Error(ErrorCode::not_found, std::move(message),
              {.file = store.path().string(), .record = std::nullopt, .offset = std::nullopt});
}

std::string split_names(const std::vector<Split>& splits) {
  std::vector<std::string> names;
  for (const Split& split : splits) {
    if (std::find(names.begin(), names.end(), split.name) == names.end()) names.push_back(split.name);
  }
  return names.empty() ? "it has no splits" : fmt::format("it has {}", fmt::join(names, ", "));
}

std::vector<Range> ranges_of(const StoreReader& store, const std::vector<std::string>& names) {
  if (names.empty()) return {{0, store.size()}};
  const std::vector<Split>& splits = store.info().splits;
  std::vector<Range> ranges;
  for (const std::string& name : names) {
    const bool known = std::any_of(splits.begin(), splits.end(), [&](const Split& s) { return s.name == name; });
    if (!known) throw_not_found(store, fmt::format("there is no split {}; {}", name, split_names(splits)));
  }
  for (const Split& split : splits) {
    if (std::find(names.begin(), names.end(), split.name) != names.end()) ranges.emplace_back(split.begin, split.end);
  }
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

/// wanted[label]; empty if all are.
std::vector<bool> labels_of(const StoreReader& store, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const std::vector<ClassInfo>& classes = store.info().classes;
  std::vector<bool> wanted(classes.size(), false);
  for (const std::string& name : names) {
    const auto found = std::find_if(classes.begin(), classes.end(), [&](const ClassInfo& c) { return c.name == name; });
    if (found == classes.end()) {
      throw_not_found(store, fmt::format("there is no class {}; imgpack info lists the {}", name, classes.size()));
    }
    wanted[static_cast<std::size_t>(found - classes.begin())] = true;
  }
  return wanted;
}

void for_each_key(const StoreReader& store, const std::vector<std::string>& keys,
                  const std::function<bool(std::uint64_t)>& visit) {
  std::vector<std::uint64_t> records;
  for (const std::string& key : keys) {
    const std::optional<std::uint64_t> record = store.find(key);
    if (!record) throw_not_found(store, fmt::format("no record has the key {}", key));
    records.push_back(*record);
  }
  for (const std::uint64_t record : records) {
    if (!visit(record)) return;
  }
}

}  // namespace

void add_split_and_class_options(CLI::App& command, Selection& selection) {
  command.add_option("--split", selection.splits, "Only records of this split; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME");
  command.add_option("--class", selection.classes, "Only records of this class; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME");
}

void add_selection_options(CLI::App& command, Selection& selection) {
  add_split_and_class_options(command, selection);
  add_number_option(
      command, "--limit", {.least = 1}, [&selection](std::uint64_t count) { selection.limit = count; },
      "Only the first N of them");
}

void for_each_selected(const StoreReader& store, const Selection& selection,
                       const std::function<bool(std::uint64_t)>& visit) {
  if (!selection.keys.empty()) {
    for_each_key(store, selection.keys, visit);
    return;
  }
  const std::vector<Range> ranges = ranges_of(store, selection.splits);
  const std::vector<bool> wanted = labels_of(store, selection.classes);
  std::uint64_t left = selection.limit == 0 ? store.size() : selection.limit;
  for (const auto& [begin, end] : ranges) {
    for (std::uint64_t record = begin; record < end && left > 0; ++record) {
      if (!selection.classes.empty()) {
        const std::int64_t label = store.meta(record).label;
        if (label < 0 || static_cast<std::uint64_t>(label) >= wanted.size()) continue;
        if (!wanted[static_cast<std::size_t>(label)]) continue;
      }
      --left;
      if (!visit(record)) return;
    }
  }
}

SplitFinder::SplitFinder(const std::vector<Split>& splits) {
  for (const Split& split : splits) {
    if (split.begin < split.end) by_begin_.push_back(&split);
  }
  std::sort(by_begin_.begin(), by_begin_.end(), [](const Split* a, const Split* b) { return a->begin < b->begin; });
}

const Split* SplitFinder::find(std::uint64_t record) {
  const auto holds = [&](std::size_t i) {
    return i < by_begin_.size() && by_begin_[i]->begin <= record && record < by_begin_[i]->end;
  };
  if (holds(last_)) return by_begin_[last_];
  const auto after = std::upper_bound(by_begin_.begin(), by_begin_.end(), record,
                                      [](std::uint64_t value, const Split* split) { return value < split->begin; });
  if (after == by_begin_.begin()) return nullptr;
  const auto at = static_cast<std::size_t>(after - by_begin_.begin()) - 1;
  if (!holds(at)) return nullptr;
  last_ = at;
  return by_begin_[at];
}

}  // namespace imgpack::tools
