// Which entries a limited build takes, in what order.
#include "packer/selection.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "packer/balanced_choice.h"

namespace imgpack {
namespace {

struct Kind {
  std::uint32_t split = 0;
  std::int64_t label = kNoLabel;
  auto operator<=>(const Kind&) const = default;
};

/// A list of entries that have nothing but split and label.
class ListSource final : public Source {
 public:
  explicit ListSource(std::vector<Kind> kinds) : kinds_(std::move(kinds)) {}
  const DatasetInfo& info() const noexcept override { return info_; }
  std::uint64_t size() const noexcept override { return kinds_.size(); }
  void entry(std::uint64_t index, SourceEntry& entry) const override {
    entry.clear();
    entry.split = kinds_[index].split;
    entry.label = kinds_[index].label;
  }
  SourceBytes read(const SourceEntry&, ByteBuffer&) const override { return {}; }
  std::uint64_t digest() const noexcept override { return 0; }
  const std::vector<std::string>& warnings() const noexcept override { return warnings_; }
  const std::vector<Kind>& kinds() const noexcept { return kinds_; }

 private:
  DatasetInfo info_;
  std::vector<Kind> kinds_;
  std::vector<std::string> warnings_;
};

using Numbers = std::vector<std::uint64_t>;

Numbers numbers_of(const Selection& selection) {
  Numbers numbers;
  for (std::uint64_t i = 0; i < selection.size(); ++i) numbers.push_back(selection(i));
  return numbers;
}

Numbers limited(const ListSource& source, std::uint64_t limit) {
  return numbers_of(Selection(source, limit, std::nullopt));
}

std::vector<Kind> repeat(std::vector<std::pair<Kind, std::size_t>> runs) {
  std::vector<Kind> kinds;
  for (const auto& [kind, count] : runs) kinds.insert(kinds.end(), count, kind);
  return kinds;
}

/// Classes of one split take turns, literally.
Numbers take_turns(const ListSource& source, std::uint32_t split, std::size_t share) {
  std::map<std::int64_t, Numbers> classes;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    if (source.kinds()[i].split == split) classes[source.kinds()[i].label].push_back(i);
  }
  Numbers taken;
  for (std::size_t round = 0; taken.size() < share; ++round) {
    for (const auto& [label, entries] : classes) {
      if (round < entries.size() && taken.size() < share) taken.push_back(entries[round]);
    }
  }
  return taken;
}

std::map<std::uint32_t, std::size_t> sizes_of_splits(const ListSource& source, const Numbers& numbers) {
  std::map<std::uint32_t, std::size_t> sizes;
  for (const std::uint64_t number : numbers) ++sizes[source.kinds()[number].split];
  return sizes;
}

}  // namespace

TEST_CASE("classes take turns until one of them is used up, in the order of labels") {
  const ListSource source(repeat({{{0, 0}, 5}, {{0, 1}, 2}, {{0, 2}, 5}}));
  CHECK(limited(source, 1) == Numbers{0});
  CHECK(limited(source, 2) == Numbers{0, 5});
  CHECK(limited(source, 4) == Numbers{0, 1, 5, 7});
  CHECK(limited(source, 8) == Numbers{0, 1, 2, 5, 6, 7, 8, 9});
  CHECK(limited(source, 9) == Numbers{0, 1, 2, 3, 5, 6, 7, 8, 9});
  CHECK(limited(source, 11) == Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const Numbers all = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{12}, ~std::uint64_t{0}}) {
    CHECK(limited(source, limit) == all);
  }
}

TEST_CASE("entries without label are a class of their own, and entries keep their order") {
  const ListSource source({{0, 7}, {0, 3}, {0, 7}, {0, kNoLabel}, {0, 3}, {0, kNoLabel}, {0, 7}});
  CHECK(limited(source, 1) == Numbers{3});
  CHECK(limited(source, 3) == Numbers{0, 1, 3});
  CHECK(limited(source, 5) == Numbers{0, 1, 3, 4, 5});
}

TEST_CASE("splits share a limit in proportion to their sizes") {
  const ListSource source(repeat({{{0, 0}, 30}, {{0, 1}, 30}, {{1, 0}, 20}, {{1, 1}, 10}, {{2, 0}, 10}}));
  const auto shares = [&](std::uint64_t limit) {
    const auto sizes = sizes_of_splits(source, limited(source, limit));
    Numbers result;
    for (std::uint32_t split = 0; split < 3; ++split) result.push_back(sizes.contains(split) ? sizes.at(split) : 0);
    return result;
  };
  CHECK(shares(10) == Numbers{6, 3, 1});
  CHECK(shares(50) == Numbers{30, 15, 5});
  CHECK(shares(11) == Numbers{7, 3, 1});  // 6.6, 3.3, 1.1
  CHECK(shares(5) == Numbers{3, 1, 1});   // 3, 1.5, 0.5
  CHECK(shares(4) == Numbers{2, 1, 1});   // 2.4, 1.2, 0.4
  CHECK(shares(3) == Numbers{1, 1, 1});
  CHECK(shares(2) == Numbers{1, 1, 0});
  CHECK(shares(1) == Numbers{1, 0, 0});
}

TEST_CASE("whatever the source, a limit is used up, and each split's share is what turns would give") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::size_t splits = 1 + random() % 4;
    const std::size_t classes = 1 + random() % 6;
    std::vector<Kind> kinds(1 + random() % 80);
    for (Kind& kind : kinds) {
      // Some classes and splits are larger than others.
      kind.split = static_cast<std::uint32_t>(std::min(random() % splits, random() % splits));
      kind.label = static_cast<std::int64_t>(std::min(random() % classes, random() % classes)) - 1;
    }
    if (round % 2 == 0) std::sort(kinds.begin(), kinds.end());
    const ListSource source(std::move(kinds));
    const auto all = sizes_of_splits(source, limited(source, 0));
    for (std::uint64_t limit = 1; limit <= source.size(); ++limit) {
      CAPTURE(round);
      CAPTURE(limit);
      const Numbers chosen = limited(source, limit);
      REQUIRE(chosen.size() == limit);
      CHECK(std::is_sorted(chosen.begin(), chosen.end()));
      const auto sizes = sizes_of_splits(source, chosen);
      Numbers expected;
      for (const auto& [split, size] : sizes) {
        const double exact = static_cast<double>(limit * all.at(split)) / static_cast<double>(source.size());
        CHECK(static_cast<double>(size) < std::max(exact, 1.0) + 1);
        const Numbers turns = take_turns(source, split, size);
        expected.insert(expected.end(), turns.begin(), turns.end());
      }
      if (limit >= all.size()) CHECK(sizes.size() == all.size());
      std::sort(expected.begin(), expected.end());
      CHECK(chosen == expected);
    }
  }
}

TEST_CASE("classes that stand together cost one run each, however many entries they have") {
  const ListSource source(repeat({{{0, 0}, 10'000}, {{0, 1}, 10'000}, {{1, 0}, 5'000}, {{1, 1}, 5'000}}));
  CHECK(choose_balanced(source, 20'000).size() == 4);
  CHECK(choose_balanced(source, 30'000).size() == 1);
  CHECK(choose_balanced(ListSource({}), 5).empty());
}

TEST_CASE("a limited selection is shuffled within splits") {
  const ListSource source(repeat({{{0, 0}, 40}, {{0, 1}, 40}, {{1, 0}, 20}, {{1, 1}, 20}}));
  const Numbers plain = limited(source, 60);
  const Numbers shuffled = numbers_of(Selection(source, 60, 5));
  CHECK(shuffled != plain);
  CHECK(shuffled != numbers_of(Selection(source, 60, 6)));
  CHECK(std::all_of(shuffled.begin(), shuffled.begin() + 40, [](std::uint64_t number) { return number < 80; }));
  CHECK(std::set<std::uint64_t>(shuffled.begin(), shuffled.end()) ==
        std::set<std::uint64_t>(plain.begin(), plain.end()));
}

}  // namespace imgpack
