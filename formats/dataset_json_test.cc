#include "formats/dataset_json.h"

#include <doctest/doctest.h>

#include "imgpack/error.h"
#include "tests/support/store_fixture.h"

using namespace imgpack;

TEST_CASE("a dataset's description survives JSON") {
  DatasetInfo info = testing::make_dataset({.fields = true}).info;
  info.records = 9;
  info.payload_bytes = 1ull << 60;
  info.content_digest = 0xfedc'ba98'7654'3210;
  info.splits = {{.name = "train", .begin = 0, .end = 5}, {.name = "val", .begin = 5, .end = 9}};
  info.left_out_count = 7;
  info.ignored_count = 1;
  info.left_out = {{.key = "a\"b", .reason = "x", .ignored = true}};
  const std::string json = dataset_info_to_json(info);
  CHECK(dataset_info_from_json(json, "file") == info);
  CHECK(dataset_info_to_json(dataset_info_from_json(json, "file")) == json);
}

TEST_CASE("a description that breaks a rule is damaged, and the message names the file") {
  DatasetInfo info = testing::make_dataset({.fields = true}).info;
  info.records = 1;
  const auto refuses = [](const std::string& json) {
    try {
      dataset_info_from_json(json, "some.rec");
    } catch (const Error& error) {
      return error.code() == ErrorCode::damaged && error.place().file == "some.rec";
    }
    return false;
  };
  CHECK(refuses(""));
  CHECK(refuses("[]"));
  CHECK(refuses("{\"schema\": 1}"));
  CHECK(refuses(std::string(100000, '[')));
  info.splits = {{.name = "train", .begin = 0, .end = 2}};
  CHECK(refuses(dataset_info_to_json(info)));
  info.splits.clear();
  info.fields[1].shape = {4, 0};
  CHECK(refuses(dataset_info_to_json(info)));
}

TEST_CASE("a name that is not UTF-8 cannot be described") {
  DatasetInfo info;
  info.source_name = "\xff";
  CHECK_THROWS_AS(dataset_info_to_json(info), Error);
}
