#include "tools/extraction_folder.h"

#include <filesystem>
#include <string_view>

#include <doctest/doctest.h>

#include <sys/stat.h>

#include "imgpack/error.h"
#include "tests/support/files.h"

namespace imgpack::tools {

namespace fs = std::filesystem;
using testing::as_bytes;
using testing::as_text;
using testing::read_file;
using testing::TempDir;
using testing::write_file;

namespace {

std::string content_of(const fs::path& path) {
  return std::string(as_text(read_file(path)));
}

std::size_t entries_below(const fs::path& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::recursive_directory_iterator(folder)) ++count;
  return count;
}

}  // namespace

TEST_CASE("files are written below the folder, which is made with its parents") {
  const TempDir temp;
  ExtractionFolder folder(temp / "new/deep", false);
  CHECK(folder.write("train/a/1.JPEG", as_bytes("one")).empty());
  CHECK(folder.write("train/a/2.JPEG", as_bytes("")).empty());
  CHECK(folder.write("train/b/1.JPEG", as_bytes("three")).empty());
  CHECK(folder.write("top", as_bytes("four")).empty());
  CHECK(content_of(temp / "new/deep/train/a/1.JPEG") == "one");
  CHECK(content_of(temp / "new/deep/train/a/2.JPEG").empty());
  CHECK(content_of(temp / "new/deep/train/b/1.JPEG") == "three");
  CHECK(content_of(temp / "new/deep/top") == "four");
}

TEST_CASE("keys that are no safe names write nothing anywhere") {
  const TempDir temp;
  fs::create_directory(temp / "out");
  ExtractionFolder folder(temp / "out", true);
  for (const std::string& key :
       {std::string("../x"), std::string("/tmp/imgpack-x"), std::string(), std::string("a/../../x"),
        std::string("a/.."), std::string(70000, 'k'), std::string("a\0b", 3)}) {
    CHECK_FALSE(folder.write(key, as_bytes("bad")).empty());
  }
  CHECK(entries_below(temp.path()) == 1);
}

TEST_CASE("links inside the folder are never followed") {
  const TempDir temp;
  fs::create_directory(temp / "outside");
  write_file(temp / "outside/file", "kept");
  fs::create_directory(temp / "out");
  fs::create_directory_symlink("../outside", temp / "out/dir");
  fs::create_symlink("../outside/file", temp / "out/leaf");
  fs::create_symlink("../outside/new", temp / "out/dangling");

  for (const bool overwrite : {false, true}) {
    ExtractionFolder folder(temp / "out", overwrite);
    CHECK_FALSE(folder.write("dir/file", as_bytes("bad")).empty());
    CHECK_FALSE(folder.write("leaf/file", as_bytes("bad")).empty());
  }
  ExtractionFolder keeping(temp / "out", false);
  CHECK_THROWS_AS(keeping.write("leaf", as_bytes("bad")), Error);
  CHECK_THROWS_AS(keeping.write("dangling", as_bytes("bad")), Error);

  ExtractionFolder replacing(temp / "out", true);
  CHECK(replacing.write("leaf", as_bytes("new")).empty());
  CHECK(replacing.write("dangling", as_bytes("new")).empty());
  CHECK(fs::is_regular_file(fs::symlink_status(temp / "out/leaf")));
  CHECK(content_of(temp / "out/leaf") == "new");
  CHECK(content_of(temp / "outside/file") == "kept");
  CHECK(entries_below(temp / "outside") == 1);
}

TEST_CASE("the folder itself may be named through a link") {
  const TempDir temp;
  fs::create_directory(temp / "real");
  fs::create_directory_symlink("real", temp / "link");
  ExtractionFolder folder(temp / "link", false);
  CHECK(folder.write("a/b", as_bytes("x")).empty());
  CHECK(content_of(temp / "real/a/b") == "x");
}

TEST_CASE("an existing file is replaced only when that is allowed, and not through its other names") {
  const TempDir temp;
  write_file(temp / "other", "old");
  fs::create_directory(temp / "out");
  fs::create_hard_link(temp / "other", temp / "out/a");
  ExtractionFolder keeping(temp / "out", false);
  try {
    keeping.write("a", as_bytes("new"));
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::already_exists);
    CHECK(error.place().file.find("out/a") != std::string::npos);
  }
  CHECK(content_of(temp / "out/a") == "old");
  ExtractionFolder replacing(temp / "out", true);
  CHECK(replacing.write("a", as_bytes("new")).empty());
  CHECK(content_of(temp / "out/a") == "new");
  CHECK(content_of(temp / "other") == "old");
}

TEST_CASE("a file and a folder of one name: the second is refused with a reason") {
  const TempDir temp;
  ExtractionFolder folder(temp / "out", true);
  CHECK(folder.write("a", as_bytes("file")).empty());
  CHECK_FALSE(folder.write("a/b", as_bytes("below")).empty());
  CHECK(folder.write("c/d", as_bytes("below")).empty());
  CHECK_FALSE(folder.write("c", as_bytes("file")).empty());
  CHECK(content_of(temp / "out/a") == "file");
  CHECK(content_of(temp / "out/c/d") == "below");
}

TEST_CASE("a folder that cannot be made is an error of the machine that names it") {
  const TempDir temp;
  write_file(temp / "file", "x");
  CHECK_THROWS_WITH_AS(ExtractionFolder(temp / "file", false), doctest::Contains("file"), Error);
  CHECK_THROWS_AS(ExtractionFolder(temp / "file/below", false), Error);
}

}  // namespace imgpack::tools
