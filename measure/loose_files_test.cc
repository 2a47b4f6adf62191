#include "measure/loose_files.h"

#include <algorithm>
#include <filesystem>

#include <doctest/doctest.h>

#include "tests/support/files.h"
#include "tests/support/images.h"
#include "tests/support/thrown.h"

namespace imgpack::measure {

namespace fs = std::filesystem;
using testing::code_of;
using testing::TempDir;
using testing::write_file;

TEST_CASE("images are listed by name, with their folders as labels") {
  const TempDir folder;
  for (const char* name : {"b/2.png", "b/1.JPEG", "a/x.jpg", "a.b/y.jpg", "a/notes.txt", "c/README"}) {
    write_file(folder / name, "x");
  }
  fs::create_directory(folder / "a/folder.jpg");
  fs::create_directory_symlink(folder / "a", folder / "z");
  const std::vector<LooseFile> files = list_images(folder.path());
  std::vector<std::pair<std::string, std::int64_t>> seen;
  for (const LooseFile& file : files) seen.emplace_back(fs::relative(file.path, folder.path()), file.label);
  std::ranges::sort(seen);
  // z is a link: the relative path is that of the folder behind it.
  CHECK(seen == std::vector<std::pair<std::string, std::int64_t>>{
                    {"a.b/y.jpg", 1}, {"a/x.jpg", 0}, {"a/x.jpg", 3}, {"b/1.JPEG", 2}, {"b/2.png", 2}});
}

TEST_CASE("folders that have nothing to list") {
  const TempDir folder;
  write_file(folder / "notes.txt", "x");
  CHECK(code_of([&] { list_images(folder.path()); }) == ErrorCode::invalid_argument);
  CHECK(code_of([&] { list_images(folder / "absent"); }) == ErrorCode::not_found);
}

TEST_CASE("a file is read as a whole, and described by its header") {
  const TempDir folder;
  const std::vector<std::byte> jpeg = testing::make_jpeg(61, 47, 1);
  write_file(folder / "a.jpg", jpeg);
  write_file(folder / "b.jpg", "no image");
  ByteBuffer buffer;
  const std::span<const std::byte> bytes = read_image(folder / "a.jpg", buffer);
  CHECK(std::ranges::equal(bytes, jpeg));
  const RecordMeta meta = describe_image({.path = folder / "a.jpg", .label = 7}, bytes);
  CHECK(meta.label == 7);
  CHECK(meta.width == 61);
  CHECK(meta.height == 47);
  CHECK(meta.codec == Codec::jpeg);
  CHECK(meta.payload_size == jpeg.size());

  const std::span<const std::byte> other = read_image(folder / "b.jpg", buffer);
  CHECK(code_of([&] { describe_image({.path = folder / "b.jpg"}, other); }) == ErrorCode::damaged);
  CHECK(code_of([&] { read_image(folder / "c.jpg", buffer); }) == ErrorCode::not_found);
}

}  // namespace imgpack::measure
