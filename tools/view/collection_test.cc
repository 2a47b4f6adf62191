#include "tools/view/collection.h"

#include <doctest/doctest.h>

#include "tests/support/files.h"
#include "tests/support/images.h"
#include "tests/support/thrown.h"
#include "tools/view/view_testing.h"

namespace imgpack::tools {

using testing::make_jpeg;

TEST_CASE("several files read as one, with classes and splits joined by name") {
  const testing::TempDir temp;
  testing::write_view_records(temp / "a.rec", {{.key = "a0", .payload = make_jpeg(40, 40, 1), .label = 0},
                                               {.key = "a1", .payload = make_jpeg(40, 40, 2), .label = 1, .split = 1}});
  testing::write_view_records(temp / "b.rec", {{.key = "b0", .payload = make_jpeg(40, 40, 3), .label = kNoLabel}}, {});
  testing::write_view_records(temp / "c.rec", {{.key = "c0", .payload = make_jpeg(40, 40, 4), .label = 2}}, {"val"});
  const std::vector<std::string> files = {temp / "a.rec", temp / "b.rec", temp / "c.rec"};
  const Collection all = Collection::open(files, {});
  CHECK(all.size() == 4);
  CHECK(all.whole());
  CHECK(all.classes().size() == 3);
  CHECK(all.splits() == std::vector<std::string>{"train", "val", "b.rec"});
  CHECK(all.key(2) == "b0");
  CHECK(all.place(3).store == 2);
  CHECK(all.place(3).record == 0);
  CHECK(all.split_of(0) == 0);
  CHECK(all.split_of(2) == 2);  // a file without splits counts as one
  CHECK(all.split_of(3) == 1);
  CHECK(all.class_of(2, all.meta(2)) == std::nullopt);
  CHECK(all.class_of(3, all.meta(3)) == 2);
  CHECK(testing::code_of([&] { all.meta(4); }) == ErrorCode::invalid_argument);

  CHECK(Collection::open({files[1]}, {}).splits().empty());
  const Collection val = Collection::open(files, {.splits = {"val"}, .classes = {}, .keys = {}});
  CHECK_FALSE(val.whole());
  CHECK_FALSE(val.selected(0));
  CHECK(val.selected(1));
  CHECK_FALSE(val.selected(2));
  CHECK(val.selected(3));
  const Collection dogs = Collection::open(files, {.splits = {}, .classes = {"dog"}, .keys = {}});
  CHECK(dogs.selected(1));
  CHECK_FALSE(dogs.selected(2));
  const auto open_with = [&](Selection selection) {
    return testing::code_of([&] { Collection::open(files, selection); });
  };
  CHECK(open_with({.splits = {"test"}, .classes = {}, .keys = {}}) == ErrorCode::not_found);
  CHECK(open_with({.splits = {}, .classes = {"cow"}, .keys = {}}) == ErrorCode::not_found);
}

}  // namespace imgpack::tools
