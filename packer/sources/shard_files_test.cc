#include "packer/sources/shard_files.h"

#include <doctest/doctest.h>

#include "imgpack/error.h"
#include "packer/sources/scan_testing.h"
#include "tests/support/files.h"

using namespace imgpack;
using namespace imgpack::testing;
using Names = std::vector<std::string>;

namespace {

Names names_of(const TarShardSet& set) {
  Names names;
  for (const TarShard& shard : set.shards) names.push_back(shard.name);
  return names;
}

}  // namespace

TEST_CASE("braces are what shells make of them") {
  CHECK(expand_braces("plain.tar") == Names{"plain.tar"});
  CHECK(expand_braces("a-{000..002}.tar") == Names{"a-000.tar", "a-001.tar", "a-002.tar"});
  CHECK(expand_braces("a-{8..11}.tar") == Names{"a-8.tar", "a-9.tar", "a-10.tar", "a-11.tar"});
  CHECK(expand_braces("a-{08..11}") == Names{"a-08", "a-09", "a-10", "a-11"});
  CHECK(expand_braces("a-{0..010}").front() == "a-000");
  CHECK(expand_braces("{0..0}") == Names{"0"});
  CHECK(expand_braces("{x,y}{1..2}") == Names{"x1", "x2", "y1", "y2"});
  CHECK(expand_braces("a{,b}") == Names{"a", "ab"});
}

TEST_CASE("braces that make no sense, or too much, are refused") {
  for (const char* bad : {"{", "}", "a{b", "a}b{", "{a}", "{}", "{1..}", "{..2}", "{a..c}", "{2..1}", "{-1..3}",
                          "{{1,2},3}", "{0..99999999}", "{0..9999}{0..9999}", "{1..99999999999999999999}"}) {
    CAPTURE(bad);
    CHECK(error_of([&] { expand_braces(bad); }).code() == ErrorCode::invalid_argument);
  }
}

TEST_CASE("a shard, a folder, and patterns") {
  const TempDir dir;
  for (const char* name : {"train-000000.tar", "train-000001.tar", "train-000002.tar", "val-000000.tar", "notes.txt"}) {
    write_file(dir / name, "x");
  }
  const std::string root = dir.path().string();
  CHECK(names_of(find_tar_shards(dir / "val-000000.tar")) == Names{"val-000000"});
  CHECK(names_of(find_tar_shards(root + "/train-{000000..000001}.tar")) == Names{"train-000000", "train-000001"});
  CHECK(names_of(find_tar_shards(root + "/train-*.tar")) == Names{"train-000000", "train-000001", "train-000002"});
  CHECK(names_of(find_tar_shards(root + "/{val,train}-00000[0].tar")) == Names{"train-000000", "val-000000"});
  CHECK(names_of(find_tar_shards(root + "/{train-*,train-000000}.tar")).size() == 3);
  CHECK(names_of(find_tar_shards(dir.path())) == Names{"train-000000", "train-000001", "train-000002", "val-000000"});
  CHECK(is_shard_pattern(root + "/train-{000000..000001}.tar"));
  CHECK_FALSE(is_shard_pattern(root + "/train-000000.tar"));
  CHECK_FALSE(is_shard_pattern(root + "/*.jpg"));

  const Error missing = error_of([&] { find_tar_shards(root + "/train-{000000..000003}.tar"); });
  CHECK(missing.code() == ErrorCode::not_found);
  CHECK(contains(missing.place().file, "train-000003.tar"));
  CHECK(error_of([&] { find_tar_shards(root + "/x-*.tar"); }).code() == ErrorCode::not_found);
}

TEST_CASE("a file whose name has braces and brackets in it is itself") {
  const TempDir dir;
  write_file(dir / "odd{0..1}[x].tar", "x");
  CHECK_FALSE(is_shard_pattern(dir / "odd{0..1}[x].tar"));
  CHECK(names_of(find_tar_shards(dir / "odd{0..1}[x].tar")) == Names{"odd{0..1}[x]"});
  write_file(dir / "[x]/a-0.tar", "x");
  CHECK(names_of(find_tar_shards(dir / "[x]/a-{0..0}.tar")).size() == 1);
}

TEST_CASE("shards in split folders keep the folder in their name; patterns over folders too") {
  const TempDir dir;
  for (const char* name : {"train/000.tar", "train/001.tar", "val/000.tar", "other/000.tar"})
    write_file(dir / name, "x");
  CHECK(names_of(find_tar_shards(dir.path())) == Names{"train/000", "train/001", "val/000"});
  CHECK(names_of(find_tar_shards(dir.path().string() + "/{train,other}/*.tar")) ==
        Names{"other/000", "train/000", "train/001"});
}

TEST_CASE("compressed shards are named, and refused if there is nothing else") {
  const TempDir dir;
  write_file(dir / "a.tar.gz", "x");
  const Error error = error_of([&] { find_tar_shards(dir.path()); });
  CHECK(error.code() == ErrorCode::unsupported);
  CHECK(contains(error.what(), "a.tar.gz"));
  write_file(dir / "b.tar", "x");
  const TarShardSet set = find_tar_shards(dir.path());
  CHECK(names_of(set) == Names{"b"});
  REQUIRE(set.warnings.size() == 1);
  CHECK(contains(set.warnings[0], "a.tar.gz"));
}

TEST_CASE("a split is exactly one of four words at the start of a shard's name") {
  CHECK(split_of_shard("train-000") == "train");
  CHECK(split_of_shard("train_000") == "train");
  CHECK(split_of_shard("val.000") == "val");
  CHECK(split_of_shard("validation-000") == "validation");
  CHECK(split_of_shard("test/000") == "test");
  for (const char* name :
       {"train", "trainval-000", "training-000", "Train-000", "valid-0", "testing", "000-train", ""}) {
    CHECK(split_of_shard(name).empty());
  }
}
