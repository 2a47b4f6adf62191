#include "tools/view/record_choice.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/support/files.h"
#include "tests/support/images.h"
#include "tools/view/view_testing.h"

namespace imgpack::tools {

namespace {

using Numbers = std::vector<std::uint64_t>;

/// Records 0 to 7 of train are cats, 8 and 9 are dogs; 10 and 11 of val a cat and one without a class.
Collection make_collection(const std::filesystem::path& path) {
  std::vector<testing::ViewRecord> records;
  for (std::uint32_t i = 0; i < 12; ++i) {
    records.push_back({.key = fmt::format("{}", i),
                       .payload = testing::make_jpeg(40, 40, i),
                       .label = i < 8 || i == 10 ? 0 : (i == 11 ? kNoLabel : 1),
                       .split = i < 10 ? 0u : 1u});
  }
  testing::write_view_records(path, records);
  return Collection::open({path}, {});
}

}  // namespace

TEST_CASE("shares are equal as far as there is something to share") {
  CHECK(fair_shares({10, 10, 10}, 6) == Numbers{2, 2, 2});
  CHECK(fair_shares({1, 10, 10}, 9) == Numbers{1, 4, 4});
  CHECK(fair_shares({10, 0, 3}, 100) == Numbers{10, 0, 3});
  CHECK(fair_shares({5, 5, 5}, 4) == Numbers{2, 1, 1});
  CHECK(fair_shares({5, 5, 5}, 2) == Numbers{1, 1, 0});
  CHECK(fair_shares({}, 2).empty());
}

TEST_CASE("records are chosen in order, by class and by split") {
  const testing::TempDir temp;
  const Collection all = make_collection(temp / "a.rec");

  const auto first = choose_records(all, {.by = ShowBy::order, .limit = 3});
  REQUIRE(first.size() == 1);
  CHECK(first[0].shown == Numbers{0, 1, 2});
  CHECK(first[0].records == 12);
  CHECK(choose_records(all, {.by = ShowBy::order, .limit = 100, .per_class = 2})[0].shown == Numbers{0, 1, 8, 9, 11});

  const auto classes = choose_records(all, {.by = ShowBy::name_of_class, .limit = 7});
  REQUIRE(classes.size() == 3);  // "ant" has no records
  CHECK(classes[0].name == "cat");
  CHECK(classes[0].records == 9);
  CHECK(classes[0].shown == Numbers{0, 2, 4, 6});  // evenly spread over the nine
  CHECK(classes[1].shown == Numbers{8, 9});
  CHECK(classes[2].name == "(no class)");
  CHECK(classes[2].shown == Numbers{11});

  const auto splits = choose_records(all, {.by = ShowBy::split, .limit = 100, .per_class = 1});
  REQUIRE(splits.size() == 2);
  CHECK(splits[0].name == "train");
  CHECK(splits[0].records == 10);
  CHECK(splits[0].shown == Numbers{0, 8});
  CHECK(splits[1].shown == Numbers{11});
}

TEST_CASE("damaged records come first") {
  const testing::TempDir temp;
  make_collection(temp / "a.rec");
  testing::damage_record(temp / "a.rec", 5);
  testing::damage_record(temp / "a.rec", 9);
  const Collection all = Collection::open({temp / "a.rec"}, {});
  const DatasetFacts facts = gather_facts(all, {});
  const auto groups = choose_by_damage(all, facts, {.by = ShowBy::damage, .limit = 4});
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].name == "damaged");
  CHECK(groups[0].shown == Numbers{5, 9});
  CHECK(groups[1].records == 10);
  CHECK(groups[1].shown == Numbers{0, 1});
  CHECK(choose_by_damage(all, facts, {.by = ShowBy::damage, .limit = 1})[0].shown == Numbers{5});
}

}  // namespace imgpack::tools
