#include "tools/selection.h"

#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "imgpack/error.h"
#include "tests/support/files.h"

namespace imgpack::tools {

namespace {

/// Ten records: train holds 0 to 6, val 7 to 9; the classes alternate, the last record has none.
std::unique_ptr<StoreReader> make_store(const std::filesystem::path& path) {
  DatasetInfo info;
  info.classes = {{.name = "cat", .words = ""}, {.name = "dog", .words = ""}};
  info.splits = {{.name = "train", .begin = 0, .end = 0}, {.name = "val", .begin = 0, .end = 0}};
  const auto writer = StoreWriter::create(path, info, {});
  for (int i = 0; i < 10; ++i) {
    const std::string key = fmt::format("k{}", i);
    Record record;
    record.key = key;
    record.meta.label = i == 9 ? kNoLabel : i % 2;
    record.split = i < 7 ? 0 : 1;
    record.payload = testing::as_bytes(key);
    record.describe();
    writer->append(record);
  }
  writer->finish();
  return open_store(path);
}

std::vector<std::uint64_t> selected(const StoreReader& store, const Selection& selection) {
  std::vector<std::uint64_t> records;
  for_each_selected(store, selection, [&](std::uint64_t record) {
    records.push_back(record);
    return true;
  });
  return records;
}

using Numbers = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("records are chosen by split, class, number and key") {
  const testing::TempDir temp;
  const auto store = make_store(temp / "a.rec");
  CHECK(selected(*store, {}).size() == 10);
  CHECK(selected(*store, {.splits = {"val"}, .classes = {}, .keys = {}}) == Numbers{7, 8, 9});
  CHECK(selected(*store, {.splits = {"val", "train"}, .classes = {}, .keys = {}}).size() == 10);
  CHECK(selected(*store, {.splits = {}, .classes = {"dog"}, .keys = {}}) == Numbers{1, 3, 5, 7});
  CHECK(selected(*store, {.splits = {"val"}, .classes = {"cat", "dog"}, .keys = {}}) == Numbers{7, 8});
  CHECK(selected(*store, {.splits = {}, .classes = {"cat"}, .keys = {}, .limit = 2}) == Numbers{0, 2});
  CHECK(selected(*store, {.splits = {}, .classes = {}, .keys = {"k4", "k1"}}) == Numbers{4, 1});
}

TEST_CASE("what the dataset does not have is named") {
  const testing::TempDir temp;
  const auto store = make_store(temp / "a.rec");
  CHECK_THROWS_WITH_AS(selected(*store, {.splits = {"test"}, .classes = {}, .keys = {}}),
                       doctest::Contains("there is no split test; it has train, val"), Error);
  CHECK_THROWS_WITH_AS(selected(*store, {.splits = {}, .classes = {"cow"}, .keys = {}}), doctest::Contains("cow"),
                       Error);
  CHECK_THROWS_WITH_AS(selected(*store, {.splits = {}, .classes = {}, .keys = {"k1", "nope"}}),
                       doctest::Contains("nope"), Error);
}

TEST_CASE("the split of a record is found in any order of asking") {
  const std::vector<Split> splits = {{.name = "a", .begin = 0, .end = 3},
                                     {.name = "b", .begin = 5, .end = 8},
                                     {.name = "a", .begin = 8, .end = 9},
                                     {.name = "empty", .begin = 3, .end = 3}};
  SplitFinder finder(splits);
  CHECK(finder.find(0)->name == "a");
  CHECK(finder.find(2)->name == "a");
  CHECK(finder.find(3) == nullptr);
  CHECK(finder.find(5)->name == "b");
  CHECK(finder.find(8)->name == "a");
  CHECK(finder.find(9) == nullptr);
  CHECK(finder.find(1)->name == "a");
}

}  // namespace imgpack::tools
