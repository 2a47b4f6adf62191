// Datasets of raw images of one size on their way through conversions.
#include "packer/raw_shape.h"

#include <filesystem>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "imgpack/build.h"
#include "imgpack/error.h"
#include "imgpack/verify.h"
#include "tests/support/files.h"
#include "tests/support/store_fixture.h"

namespace imgpack {
namespace {

namespace fs = std::filesystem;
using namespace imgpack::testing;

std::optional<RawShape> parse(std::string text) {
  DatasetInfo info;
  info.transform = {{"encode", "raw"}, {"raw_shape", std::move(text)}};
  return raw_shape_of(info);
}

TestDataset raw_dataset(RawShape shape, std::string_view text) {
  TestDataset dataset = make_dataset({.records = 11, .fields = true, .raw_shape = shape});
  dataset.info.transform = {{"encode", "raw"}, {"raw_shape", std::string(text)}};
  return dataset;
}

/// HDF5 names the datasets in the root group's header.
bool has_dataset(const fs::path& path, std::string_view name) {
  const std::vector<std::byte> bytes = read_file(path);
  return as_text(bytes).find(name) != std::string_view::npos;
}

}  // namespace

TEST_CASE("a description's raw shape is read strictly") {
  CHECK(parse("224x256") == RawShape{.height = 224, .width = 256});
  CHECK(parse("1x65535") == RawShape{.height = 1, .width = 65'535});
  for (const char* text : {"", "x", "224", "224x", "x224", "0x5", "5x0", "007x5", "+7x5", "-7x5", "7 x5", " 7x5",
                           "7x5 ", "7X5", "7x5x3", "65536x1", "1x4294967297", "mixed"}) {
    CAPTURE(text);
    CHECK(parse(text) == std::nullopt);
  }
  CHECK(raw_shape_of({}) == std::nullopt);
}

TEST_CASE("raw images of one size go through every format and keep their content") {
  const TempDir dir;
  const TestDataset dataset = raw_dataset({.height = 6, .width = 9}, "6x9");
  write_dataset(dir / "a.rec", dataset, {.raw_shape = RawShape{6, 9}});
  fs::path previous = dir / "a.rec";
  for (const char* name : {"b.hdf5", "c.lmdb", "d.hdf5", "e.tfrecord", "f.hdf5", "g.rec"}) {
    CAPTURE(name);
    convert(previous, dir / name, {});
    previous = dir / name;
    const auto store = open_store(previous);
    check_equal(*store, dataset);
    CHECK(store->info().content_digest == open_store(dir / "a.rec")->info().content_digest);
    CHECK(verify(*store, {}).damage_count == 0);
    if (previous.extension() == ".hdf5") CHECK(has_dataset(previous, "images"));
  }
  CHECK(read_file(dir / "b.hdf5") == read_file(dir / "d.hdf5"));
  CHECK(read_file(dir / "b.hdf5") == read_file(dir / "f.hdf5"));
  CHECK(read_file(dir / "a.rec") == read_file(dir / "g.rec"));
}

TEST_CASE("a dataset that says nothing of one size, or files that say different things, have no array of images") {
  const TempDir dir;
  TestDataset dataset = raw_dataset({.height = 6, .width = 9}, "6x9");
  write_dataset(dir / "s1.rec", dataset, {});
  for (TestRecord& record : dataset.records) record.key += "2";
  write_dataset(dir / "s3.rec", dataset, {});
  convert(dir / "s[13].rec", dir / "same.hdf5", {});
  CHECK(has_dataset(dir / "same.hdf5", "images"));
  TestDataset other = raw_dataset({.height = 9, .width = 6}, "9x6");
  for (TestRecord& record : other.records) record.key += "3";
  write_dataset(dir / "s2.rec", other, {});
  convert(dir / "s[12].rec", dir / "differ.hdf5", {});
  dataset.info.transform.erase("raw_shape");
  write_dataset(dir / "silent.rec", dataset, {});
  convert(dir / "silent.rec", dir / "silent.hdf5", {});
  for (const char* name : {"differ.hdf5", "silent.hdf5"}) {
    CHECK(has_dataset(dir / name, "encoded"));
    CHECK_FALSE(has_dataset(dir / name, "images"));
    CHECK(verify(dir / name, {}).damage_count == 0);
  }
  CHECK(open_store(dir / "differ.hdf5")->size() == 22);
}

TEST_CASE("a dataset whose records are not what it says of them is refused") {
  const TempDir dir;
  write_dataset(dir / "lie.rec", raw_dataset({.height = 6, .width = 9}, "9x6"), {});
  try {
    convert(dir / "lie.rec", dir / "out.hdf5", {});
    FAIL("it was converted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
  }
  CHECK_FALSE(fs::exists(dir / "out.hdf5"));
}

}  // namespace imgpack
