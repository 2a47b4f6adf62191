#include "formats/shards.h"

#include <doctest/doctest.h>

#include "imgpack/error.h"
#include "imgpack/verify.h"
#include "tests/support/files.h"
#include "tests/support/store_fixture.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace fs = std::filesystem;

namespace {

/// `dataset` in three shards named after `path`.
std::vector<fs::path> write_shards(const fs::path& path, const TestDataset& dataset) {
  std::vector<fs::path> paths;
  const std::size_t n = dataset.records.size();
  for (std::uint32_t i = 0; i < 3; ++i) {
    TestDataset part = dataset;
    part.records.assign(dataset.records.begin() + static_cast<std::ptrdiff_t>(i * n / 3),
                        dataset.records.begin() + static_cast<std::ptrdiff_t>((i + 1) * n / 3));
    paths.push_back(shard_path(path, i, 3));
    write_dataset(paths.back(), part, {});
  }
  return paths;
}

}  // namespace

TEST_CASE("shards have numbered names") {
  CHECK(shard_path("a/out.rec", 2, 8) == "a/out-00002-of-00008.rec");
  CHECK(shard_path("out", 0, 12345) == "out-00000-of-12345");
}

TEST_CASE("shards read as one sequence, by name, pattern and manifest") {
  TempDir dir;
  const TestDataset dataset = make_dataset({.records = 20, .fields = true});
  const auto paths = write_shards(dir / "out.rec", dataset);
  std::vector<ManifestShard> items;
  for (const fs::path& path : paths) {
    const auto store = open_store(path);
    items.push_back({.path = path, .records = store->size(), .content_digest = store->info().content_digest});
  }
  write_manifest(dir / "all.json", items, false);
  write_file(dir / "out-00000-of-00003.rec.idx", "only accompanies");
  for (const char* name : {"out.rec", "out-*", "all.json"}) {
    CAPTURE(name);
    const auto store = open_store(dir / name);
    check_equal(*store, dataset);
    REQUIRE(store->info().splits.size() == 2);
    CHECK(store->info().splits[0].end == 13);
    CHECK(store->info().splits[1].begin == 13);
    CHECK(store->parts().size() == 3);
    CHECK(verify(*store, {}).damage_count == 0);
  }
}

TEST_CASE("each shard is one mapping, in order") {
  TempDir dir;
  write_shards(dir / "out.rec", make_dataset({.records = 20}));
  const auto store = open_store(dir / "out.rec");
  const auto mappings = store->mappings();
  REQUIRE(mappings.size() == 3);
  std::uint64_t record = 0;
  for (std::size_t shard = 0; shard < 3; ++shard) {
    CHECK(mappings[shard].size() == fs::file_size(store->parts()[shard]->path()));
    for (std::uint64_t i = 0; i < store->parts()[shard]->size(); ++i, ++record) {
      const std::span<const std::byte> payload = store->bytes(record).payload;
      CHECK(payload.data() >= mappings[shard].data());
      CHECK(payload.data() + payload.size() <= mappings[shard].data() + mappings[shard].size());
    }
  }
  CHECK(record == store->size());
}

TEST_CASE("a missing shard and a changed one are noticed") {
  TempDir dir;
  const TestDataset dataset = make_dataset({.records = 9});
  const auto paths = write_shards(dir / "out.rec", dataset);
  std::vector<ManifestShard> items;
  for (const fs::path& path : paths) items.push_back({.path = path, .records = 3, .content_digest = 1});
  write_manifest(dir / "m.json", items, false);
  CHECK_THROWS_AS(open_store(dir / "m.json"), Error);
  CHECK_THROWS_AS(write_manifest(dir / "m.json", items, false), Error);
  CHECK_FALSE(fs::exists(dir / "m.json.partial"));
  fs::remove(paths[1]);
  try {
    open_store(dir / "out.rec");
    FAIL("the missing shard was not noticed");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::damaged);
    CHECK(error.message().find("out-00001-of-00003.rec") != std::string::npos);
  }
}

TEST_CASE("files of different datasets are not joined, and a key in two of them is found") {
  TempDir dir;
  TestDataset dataset = make_dataset({.records = 2});
  write_dataset(dir / "a1.rec", dataset, {});
  write_dataset(dir / "a2.rec", dataset, {});
  CHECK(verify(dir / "a*.rec", {}).damage_count == 2);
  dataset.info.classes.pop_back();
  for (TestRecord& record : dataset.records) record.meta.label = 0;
  write_dataset(dir / "a3.rec", dataset, {});
  CHECK_THROWS_AS(open_store(dir / "a*.rec"), Error);
}

TEST_CASE("what was done to some of several files only is not said of all") {
  TempDir dir;
  using Transform = std::map<std::string, std::string>;
  const auto write = [&](std::string_view name, Transform transform) {
    TestDataset dataset = make_dataset({.records = 1});
    dataset.info.transform = std::move(transform);
    write_dataset(dir / name, dataset, {});
  };
  write("a1.rec", {{"encode", "raw"}, {"interpolation", "bilinear"}, {"raw_shape", "8x8"}});
  write("a2.rec", {{"encode", "raw"}, {"interpolation", "bilinear"}, {"raw_shape", "9x9"}, {"resize", "9"}});
  write("a3.rec", {{"encode", "raw"}, {"interpolation", "bilinear"}, {"raw_shape", "8x8"}});
  CHECK(open_store(dir / "a[13].rec")->info().transform ==
        Transform{{"encode", "raw"}, {"interpolation", "bilinear"}, {"raw_shape", "8x8"}});
  CHECK(open_store(dir / "a*.rec")->info().transform ==
        Transform{{"encode", "raw"}, {"interpolation", "bilinear"}, {"raw_shape", "mixed"}, {"resize", "mixed"}});
}

TEST_CASE("a manifest refuses names that it cannot hold") {
  TempDir dir;
  try {
    write_manifest(dir / "m.json", {{.path = dir / "caf\xe9.rec", .records = 1, .content_digest = 1}}, false);
    FAIL("it was written");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
  }
  CHECK(fs::is_empty(dir.path()));
}

TEST_CASE("manifests that make no sense are damaged") {
  TempDir dir;
  for (const char* text : {"{\"imgpack_manifest\": 1}", "{\"imgpack_manifest\": 1, \"shards\": []}",
                           "{\"imgpack_manifest\": 1, \"shards\": [{\"file\": 3}]}", "{\"imgpack_manifest\""}) {
    write_file(dir / "m", text);
    try {
      open_store(dir / "m");
      FAIL("it was opened");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::damaged);
    }
  }
}
