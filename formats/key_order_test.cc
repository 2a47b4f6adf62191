#include <algorithm>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "formats/index_permutation.h"
#include "formats/key_slices.h"
#include "formats/key_sorter.h"
#include "tests/support/files.h"

using namespace imgpack;
using namespace imgpack::testing;

TEST_CASE("the key sorter gives one order, whether it spills or not") {
  TempDir dir;
  std::vector<HashedRecord> expected;
  for (const std::size_t memory : {std::size_t{1}, std::size_t{7}, std::size_t{100}, std::size_t{100000}}) {
    KeySorter sorter(dir.path(), memory);
    for (std::uint64_t i = 0; i < 1000; ++i) sorter.add(hash_key(fmt::format("key {}", i / 2)), i);
    std::vector<HashedRecord> got;
    sorter.visit([&](KeyHash hash, std::uint64_t number) { got.push_back({hash, number}); });
    CHECK(got.size() == 1000);
    CHECK(std::is_sorted(got.begin(), got.end()));
    if (expected.empty()) expected = got;
    CHECK(got == expected);
  }
  CHECK(std::filesystem::is_empty(dir.path()));
}

TEST_CASE("key slices come in the sorter's order") {
  TempDir dir;
  KeySorter sorter(dir.path());
  const auto key_of = [](std::uint64_t record) { return fmt::format("k{}", record); };
  for (std::uint64_t i = 0; i < 500; ++i) sorter.add(hash_key(key_of(i)), i);
  std::vector<HashedRecord> expected;
  sorter.visit([&](KeyHash hash, std::uint64_t number) { expected.push_back({hash, number}); });
  std::vector<HashedRecord> got;
  visit_key_slices(500, key_of, [&](const std::vector<HashedRecord>& slice) {
    got.insert(got.end(), slice.begin(), slice.end());
    return true;
  });
  CHECK(got == expected);
}

TEST_CASE("an index permutation is one for every n, and differs by seed") {
  for (const std::uint64_t n : {1, 2, 3, 4, 5, 16, 17, 255, 1000, 4097}) {
    CAPTURE(n);
    std::set<std::uint64_t> images;
    const IndexPermutation permute(n, 42);
    for (std::uint64_t i = 0; i < n; ++i) images.insert(permute(i));
    CHECK(images.size() == n);
    CHECK(*images.rbegin() == n - 1);
  }
  int equal = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) equal += IndexPermutation(1000, 1)(i) == IndexPermutation(1000, 2)(i);
  CHECK(equal < 20);
}
