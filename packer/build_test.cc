// Building, converting, merging and comparing, as a program that uses the library does it.
#include "imgpack/build.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "formats/rec/rec_file.h"
#include "imgpack/verify.h"
#include "mmap/little_endian.h"
#include "mmap/paths.h"
#include "packer/sources/scan_testing.h"
#include "tests/support/files.h"
#include "tests/support/images.h"
#include "tests/support/store_fixture.h"

namespace imgpack {
namespace {

namespace fs = std::filesystem;
using namespace imgpack::testing;

std::vector<std::string> keys_in(const fs::path& path) {
  const auto store = open_store(path);
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < store->size(); ++i) keys.emplace_back(store->key(i));
  return keys;
}

/// Changes the stored label of one record of a rec file.
void set_label(const fs::path& path, std::uint64_t record, std::int64_t label) {
  std::vector<std::byte> bytes = read_file(path);
  const rec::Directory directory = rec::read_directory(MappedFile::open(path));
  for (const rec::Section& section : directory.sections) {
    if (section.type == static_cast<std::uint32_t>(Column::label)) {
      store_le(bytes.data() + section.offset + record * 8, label);
    }
  }
  write_file(path, bytes);
}

}  // namespace

TEST_CASE("shards hold what one file holds, whether they are made together or one by one") {
  const TempDir dir;
  make_image_folder(dir / "images", 3, 6);
  build(dir / "images", dir / "whole.rec", {});
  const BuildReport report = build(dir / "images", dir / "all.rec", {.shards = 4});
  REQUIRE(report.outputs.size() == 4);
  CHECK(keys_in(dir / "all.rec") == keys_in(dir / "whole.rec"));
  CHECK(report.records == open_store(dir / "whole.rec")->size());
  CHECK(report.splits == open_store(dir / "whole.rec")->info().splits);
  for (std::uint32_t shard = 0; shard < 4; ++shard) {
    const BuildReport one = build(dir / "images", dir / "one.rec", {.shards = 4, .only_shard = shard});
    REQUIRE(one.outputs.size() == 1);
    CHECK(read_file(one.outputs[0]) == read_file(report.outputs[shard]));
  }
  CHECK(error_of([&] { build(dir / "images", dir / "one.rec", {.shards = 4, .only_shard = 4}); }).code() ==
        ErrorCode::invalid_argument);
}

TEST_CASE("a build that is cancelled goes on to the same bytes") {
  const TempDir dir;
  make_image_folder(dir / "images", 3, 24);
  for (const std::uint32_t shards : {1u, 3u}) {
    for (int calls = 2; calls < 14; calls += 3) {
      CAPTURE(shards);
      CAPTURE(calls);
      const fs::path whole = dir / fmt::format("whole{}.rec", shards);
      const fs::path resumed = dir / fmt::format("resumed{}-{}.rec", shards, calls);
      BuildOptions options{.overwrite = true, .shards = shards};
      const BuildReport expected = build(dir / "images", whole, options);
      int left = calls;
      options.progress = [&left](const BuildProgress&) { return --left > 0; };
      CHECK(error_of([&] { build(dir / "images", resumed, options); }).message() == "cancelled");
      const BuildReport report = build(dir / "images", resumed, {.resume = true, .shards = shards});
      CHECK(report.records == expected.records);
      REQUIRE(report.outputs.size() == expected.outputs.size());
      for (std::size_t i = 0; i < report.outputs.size(); ++i) {
        CHECK(read_file(report.outputs[i]) == read_file(expected.outputs[i]));
        CHECK_FALSE(fs::exists(with_suffix(report.outputs[i], ".journal")));
        CHECK_FALSE(fs::exists(with_suffix(report.outputs[i], ".partial")));
      }
    }
  }
}

TEST_CASE("shuffled storage keeps splits together, and depends on the seed alone") {
  const TempDir dir;
  make_image_folder(dir / "images", 3, 20);
  build(dir / "images", dir / "plain.rec", {});
  build(dir / "images", dir / "a.rec", {.threads = 1, .shuffle_seed = 7});
  build(dir / "images", dir / "b.rec", {.threads = 4, .shuffle_seed = 7});
  convert(dir / "plain.rec", dir / "c.rec", {.shuffle_seed = 7});
  CHECK(read_file(dir / "a.rec") == read_file(dir / "b.rec"));
  CHECK(read_file(dir / "a.rec") == read_file(dir / "c.rec"));
  CHECK(open_store(dir / "a.rec")->info().splits == open_store(dir / "plain.rec")->info().splits);
  std::vector<std::string> plain = keys_in(dir / "plain.rec");
  std::vector<std::string> shuffled = keys_in(dir / "a.rec");
  CHECK(plain != shuffled);
  std::sort(plain.begin(), plain.end());
  std::sort(shuffled.begin(), shuffled.end());
  CHECK(plain == shuffled);
}

TEST_CASE("a limited build takes some of each class, whole or in shards, from a folder or a packed file") {
  const TempDir dir;
  make_image_folder(dir / "images", 3, 20);
  build(dir / "images", dir / "plain.rec", {});
  build(dir / "images", dir / "a.rec", {.threads = 3, .limit = 10});
  convert(dir / "plain.rec", dir / "b.rec", {.limit = 10});
  CHECK(read_file(dir / "a.rec") == read_file(dir / "b.rec"));
  build(dir / "images", dir / "s.rec", {.limit = 10, .shards = 3});
  CHECK(keys_in(dir / "s.rec") == keys_in(dir / "a.rec"));

  const auto store = open_store(dir / "a.rec");
  REQUIRE(store->size() == 10);
  std::map<std::int64_t, int> first_split;
  for (std::uint64_t i = 0; i < store->info().splits[0].end; ++i) ++first_split[store->meta(i).label];
  REQUIRE(first_split.size() == 3);
  for (const auto& [label, count] : first_split) CHECK(std::abs(count - first_split[0]) <= 1);

  build(dir / "images", dir / "c.rec", {.limit = 10, .shuffle_seed = 3});
  std::vector<std::string> plain = keys_in(dir / "a.rec");
  std::vector<std::string> shuffled = keys_in(dir / "c.rec");
  CHECK(plain != shuffled);
  std::sort(plain.begin(), plain.end());
  std::sort(shuffled.begin(), shuffled.end());
  CHECK(plain == shuffled);
}

TEST_CASE("a shard is not resumed with another limit, although it holds as many entries") {
  const TempDir dir;
  make_image_folder(dir / "images", 3, 20);
  int left = 2;
  const auto cancel = [&left](const BuildProgress&) { return --left > 0; };
  BuildOptions options{.limit = 10, .shards = 2, .only_shard = 0, .progress = cancel};
  CHECK(error_of([&] { build(dir / "images", dir / "a.rec", options); }).message() == "cancelled");
  options.progress = nullptr;
  options.resume = true;
  options.limit = 9;  // five entries in the first of two shards too
  CHECK(error_of([&] { build(dir / "images", dir / "a.rec", options); }).code() == ErrorCode::invalid_argument);
  options.limit = 10;
  CHECK(build(dir / "images", dir / "a.rec", options).records == 5);
}

TEST_CASE("merging never replaces one of its inputs by the manifest") {
  const TempDir dir;
  TestDataset dataset = make_dataset({.records = 2});
  write_dataset(dir / "a.rec", dataset, {});
  for (TestRecord& record : dataset.records) record.key += "2";
  write_dataset(dir / "b.rec", dataset, {});
  const std::vector<std::byte> before = read_file(dir / "b.rec");
  CHECK(error_of([&] {
          merge(dir / "b.rec", {dir / "a.rec", dir / "b.rec"}, true);
        }).code() == ErrorCode::invalid_argument);
  CHECK(read_file(dir / "b.rec") == before);
  // A manifest as an input is read for what it lists, and may be replaced by a longer one.
  merge(dir / "all.json", {dir / "a.rec"}, false);
  merge(dir / "all.json", {dir / "all.json", dir / "b.rec"}, true);
  CHECK(open_store(dir / "all.json")->size() == 4);
}

TEST_CASE("a damaged record does not keep the others from being converted") {
  const TempDir dir;
  const TestDataset dataset = make_dataset({.records = 9});
  write_dataset(dir / "a.rec", dataset, {});
  std::vector<std::byte> bytes = read_file(dir / "a.rec");
  bytes[open_store(dir / "a.rec")->place(2).offset] ^= std::byte{1};
  write_file(dir / "a.rec", bytes);
  set_label(dir / "a.rec", 6, 1234);
  const Error error = error_of([&] { convert(dir / "a.rec", dir / "b.rec", {}); });
  CHECK(error.code() == ErrorCode::refused);
  CHECK(error.place().file == dataset.records[2].key);
  const BuildReport report = convert(dir / "a.rec", dir / "b.rec", {.on_error = OnError::skip, .overwrite = true});
  CHECK(report.records == 7);
  REQUIRE(report.left_out.size() == 2);
  CHECK(report.left_out[0].key == dataset.records[2].key);
  CHECK(report.left_out[1].key == dataset.records[6].key);
  CHECK(contains(report.left_out[1].reason, "label 1234"));
  CHECK(verify(dir / "b.rec", {}).damage_count == 0);
}

TEST_CASE("comparing with the source finds what changed, what is missing and what is new") {
  const TempDir dir;
  make_image_folder(dir / "images", 2, 3);
  build(dir / "images", dir / "a.rec", {});
  const auto store = open_store(dir / "a.rec");
  const auto compare = [&] { return verify_source(*store, dir / "images", dir.path(), {}); };
  CHECK(compare().good());
  CHECK(compare().compared == store->size());

  write_file(dir / "images" / std::string(store->key(0)), make_jpeg(9, 9, 99));
  fs::remove(dir / "images" / std::string(store->key(1)));
  fs::copy_file(dir / "images" / std::string(store->key(2)),
                (dir / "images" / std::string(store->key(2))).parent_path() / "new.JPEG");
  const SourceReport report = compare();
  CHECK(report.different_count == 1);
  CHECK(report.extra_count == 1);
  CHECK(report.missing_count == 1);
  REQUIRE(report.different.size() == 1);
  CHECK(report.different[0].record == 0);
}

TEST_CASE("comparing with a manifest compares its further columns") {
  const TempDir dir;
  write_file(dir / "a.jpg", make_jpeg(8, 8, 1));
  write_file(dir / "b.jpg", make_jpeg(8, 8, 2));
  write_file(dir / "list.csv", "path,label,weight\na.jpg,0,1\nb.jpg,1,2\n");
  build(dir / "list.csv", dir / "a.rec", {});
  const auto store = open_store(dir / "a.rec");
  const auto differences = [&] { return verify_source(*store, dir / "list.csv", dir.path(), {}).different_count; };
  CHECK(differences() == 0);
  write_file(dir / "list.csv", "path,label,weight\na.jpg,0,1\nb.jpg,1,3\n");
  CHECK(differences() == 1);
  write_file(dir / "list.csv", "path,label,weight,height_in_m\na.jpg,0,1,5\nb.jpg,1,2,6\n");
  CHECK(differences() == 2);
}

TEST_CASE("paths that lead nowhere are Errors that name them") {
  const TempDir dir;
  fs::create_symlink("loop", dir / "loop");
  write_file(dir / "a.jpg", make_jpeg(8, 8, 1));
  const std::string long_name(300, 'n');
  CHECK(error_of([&] { build(dir / "loop", dir / "a.rec", {}); }).code() == ErrorCode::io);
  CHECK(error_of([&] { build(dir / "nothing", dir / "a.rec", {}); }).code() == ErrorCode::not_found);
  CHECK(error_of([&] { open_store(dir / "loop"); }).place().file == (dir / "loop").string());
  CHECK(error_of([&] { build(dir.path(), dir / long_name, {}); }).code() == ErrorCode::io);
  CHECK(error_of([&] { build(dir.path(), dir / "no folder" / "a.rec", {}); }).code() == ErrorCode::not_found);
}

}  // namespace imgpack
