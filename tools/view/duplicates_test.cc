#include "tools/view/duplicates.h"

#include <doctest/doctest.h>

namespace imgpack::tools {

namespace {

/// Records below 10 lie in split 0, others in split 1; classes are the last digits.
Duplicates found_in(std::vector<PayloadHash> hashes, std::size_t most_listed = 100) {
  return find_duplicates(
      hashes, [](std::uint64_t record) { return std::optional<std::size_t>(record < 10 ? 0 : 1); },
      [](std::uint64_t record) { return std::optional<std::size_t>(record % 10); }, most_listed);
}

}  // namespace

TEST_CASE("equal payloads are found, within a split and across splits") {
  const Duplicates found = found_in({{7, 13}, {5, 1}, {9, 2}, {7, 3}, {5, 4}, {5, 0}, {8, 12}});
  CHECK(found.groups == 2);
  CHECK(found.records == 5);
  CHECK(found.copies() == 3);
  CHECK(found.leakage_groups == 1);
  CHECK(found.leakage_records == 2);
  CHECK(found.conflict_groups == 1);
  REQUIRE(found.listed.size() == 2);
  CHECK(found.listed[0].leakage);  // leakage comes first
  CHECK(found.listed[0].members == std::vector<std::uint64_t>{3, 13});
  CHECK_FALSE(found.listed[0].conflict);
  CHECK_FALSE(found.listed[1].leakage);
  CHECK(found.listed[1].conflict);
  CHECK(found.listed[1].members == std::vector<std::uint64_t>{0, 1, 4});
}

TEST_CASE("no duplicates") {
  CHECK(found_in({}).groups == 0);
  CHECK(found_in({{1, 0}, {2, 1}}).groups == 0);
  CHECK(found_in({{1, 0}, {2, 1}}).listed.empty());
}

TEST_CASE("lists are bounded, counts are not, and a member of each split is listed") {
  std::vector<PayloadHash> hashes;
  for (std::uint64_t record = 0; record < 12; ++record) hashes.push_back({1, record});
  for (std::uint64_t record = 20; record < 60; ++record) hashes.push_back({record / 2, record});
  const Duplicates found = found_in(hashes, 3);
  CHECK(found.groups == 21);
  CHECK(found.records == 52);
  REQUIRE(found.listed.size() == 3);
  CHECK(found.listed[0].records == 12);
  CHECK(found.listed[0].members.size() == DuplicateGroup::kMostMembers);
  CHECK(found.listed[0].members.back() == 10);
  CHECK(found.listed[1].members == std::vector<std::uint64_t>{20, 21});
  CHECK(found.listed[2].members == std::vector<std::uint64_t>{22, 23});
}

}  // namespace imgpack::tools
