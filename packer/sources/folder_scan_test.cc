#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

#include "packer/sources/scan_testing.h"
#include "tests/support/images.h"

namespace imgpack {
namespace {

namespace fs = std::filesystem;
using namespace imgpack::testing;
using Names = std::vector<std::string>;
using Labels = std::vector<std::int64_t>;

TEST_CASE("class folders: labels are torchvision's class_to_idx") {
  const TempDir data, work;
  for (const char* path : {"b/2.jpg", "b/10.jpg", "a/x.jpg", "C/y.jpg"}) write_file(data / path, path);
  const auto source = open_in(work, data.path());
  CHECK(source->info().source_kind == "class-folders");
  CHECK(source->info().source_name == data.path().filename());
  CHECK(source->info().splits.empty());
  CHECK(class_names(*source) == Names{"C", "a", "b"});  // bytewise: capitals first, whatever the locale
  CHECK(keys_of(*source) == Names{"C/y.jpg", "a/x.jpg", "b/10.jpg", "b/2.jpg"});
  CHECK(labels_in(*source) == Labels{0, 1, 2, 2});
  CHECK(read_text(*source, entry_named(*source, "b/10.jpg")) == "b/10.jpg");
  CHECK(source->warnings().empty());
}

TEST_CASE("nested folders: the order is that of torchvision's make_dataset") {
  const TempDir data, work;
  for (const char* path : {"c/z.jpg", "c/a.jpg", "c/a/1.jpg", "c/a/b/2.jpg", "c/a-b/3.jpg", "c/a/a/0.jpg",
                           "c/a.d/4.jpg", "c/B/5.jpg", "c/a b/6.jpg", "d/1.jpg"}) {
    write_file(data / path, "x");
  }
  // for folder, _, names in sorted(os.walk(c)): for name in sorted(names): ... Folders are compared as whole paths, and
  // ' ', '-' and '.' are smaller than '/': "a b", "a-b" and "a.d" stand between "a" and "a/a".
  const Names expected = {"c/a.jpg",     "c/z.jpg",     "c/B/5.jpg",   "c/a/1.jpg",   "c/a b/6.jpg",
                          "c/a-b/3.jpg", "c/a.d/4.jpg", "c/a/a/0.jpg", "c/a/b/2.jpg", "d/1.jpg"};
  CHECK(keys_of(*open_in(work, data.path())) == expected);
}

TEST_CASE("a flat folder has no labels") {
  const TempDir data, work;
  for (const char* path : {"2.jpg", "10.png", ".hidden", "notes.txt"}) write_file(data / path, path);
  fs::create_directories(data / "empty/inner");
  const auto source = open_in(work, data.path());
  CHECK(source->info().source_kind == "flat-folder");
  CHECK(keys_of(*source) == Names{".hidden", "10.png", "2.jpg", "notes.txt"});
  CHECK(labels_in(*source) == Labels{-1, -1, -1, -1});
  CHECK(class_names(*source).empty());
}

TEST_CASE("a flat folder with folders that hold no files stays flat, and tells what is in the way") {
  const TempDir data, work;
  write_file(data / "1.jpg", "x");
  fs::create_directories(data / "a/b");
  fs::create_directory_symlink(".", data / "all");
  const auto source = open_in(work, data.path());
  CHECK(source->info().source_kind == "flat-folder");
  CHECK(keys_of(*source) == Names{"1.jpg", "all"});
  CHECK(entry_named(*source, "all").problem == "loop of symbolic links");
}

TEST_CASE("split folders become splits in the order train, val, test under their own names") {
  const TempDir data, work;
  for (const char* path : {"Test/1.jpg", "Test/0.jpg", "validation/dog/1.jpg", "validation/ant/2.jpg",
                           "train/dog/1.jpg", "train/cat/1.jpg", "annotations/train/1.xml", "README.md"}) {
    write_file(data / path, path);
  }
  const auto source = open_in(work, data.path());
  CHECK(source->info().source_kind == "splits");
  CHECK(split_names(*source) == Names{"train", "validation", "Test"});
  CHECK(class_names(*source) == Names{"ant", "cat", "dog"});  // the union
  CHECK(keys_of(*source) == Names{"train/cat/1.jpg", "train/dog/1.jpg", "validation/ant/2.jpg", "validation/dog/1.jpg",
                                  "Test/0.jpg", "Test/1.jpg"});
  CHECK(labels_in(*source) == Labels{1, 2, 0, 2, -1, -1});
  CHECK(entry_named(*source, "Test/0.jpg").split == 2);
  REQUIRE(source->warnings().size() == 2);
  CHECK(contains(source->warnings()[0], "'annotations'"));
  CHECK(contains(source->warnings()[1], "'README.md'"));
}

TEST_CASE("a split's name beside another folder of images is a class") {
  const TempDir data, work;
  write_file(data / "test/1.jpg", "x");
  write_file(data / "bench/1.jpg", "x");
  const auto source = open_in(work, data.path());
  CHECK(class_names(*source) == Names{"bench", "test"});
  REQUIRE(source->warnings().size() == 1);
  CHECK(contains(source->warnings()[0], "'test' is the name of a split, but 'bench'"));
}

TEST_CASE("an empty class keeps its place, files beside classes are ignored, both with a warning") {
  const TempDir data, work;
  write_file(data / "a/1.jpg", "x");
  write_file(data / "c/1.jpg", "x");
  fs::create_directories(data / "b");
  for (int i = 0; i < 8; ++i) write_file(data / ("stray" + std::to_string(i) + ".jpg"), "x");
  const auto source = open_in(work, data.path());
  CHECK(class_names(*source) == Names{"a", "b", "c"});
  CHECK(labels_in(*source) == Labels{0, 2});
  REQUIRE(source->warnings().size() == 2);
  CHECK(contains(source->warnings()[0], "8 files at the top"));
  CHECK(contains(source->warnings()[0], "'stray4.jpg' and 3 more"));
  CHECK(source->warnings()[1] == "the class 'b' has no files");
}

TEST_CASE("a folder without files, and no folder at all") {
  const TempDir data, work;
  fs::create_directories(data / "a/b");
  fs::create_directories(data / "train");
  Error error = error_of([&] { open_in(work, data.path()); });
  CHECK(error.code() == ErrorCode::refused);
  CHECK(contains(error.message(), "no files found in"));
  error = error_of([&] { open_in(work, data / "missing"); });
  CHECK(error.code() == ErrorCode::not_found);
  CHECK(contains(error.what(), "missing"));
  write_file(data / "a.bin", "no source");
  error = error_of([&] { open_in(work, data / "a.bin"); });
  CHECK(error.code() == ErrorCode::refused);
  CHECK(contains(error.what(), "a.bin"));
}

TEST_CASE("symbolic links are followed; those that lead nowhere or round and round are named") {
  const TempDir data, elsewhere, work;
  write_file(elsewhere / "real/1.jpg", "far");
  write_file(data / "a/1.jpg", "near");
  fs::create_directory_symlink(elsewhere / "real", data / "linked");
  fs::create_symlink(elsewhere / "real/1.jpg", data / "a/2.jpg");
  fs::create_symlink("nowhere.jpg", data / "a/broken.jpg");
  fs::create_symlink("self.jpg", data / "a/self.jpg");
  fs::create_directory_symlink(data.path(), data / "a/up");
  fs::create_directories(data / "a/deep/er");
  fs::create_directory_symlink("../../deep", data / "a/deep/er/again");
  const auto source = open_in(work, data.path());
  CHECK(keys_of(*source) ==
        Names{"a/1.jpg", "a/2.jpg", "a/broken.jpg", "a/self.jpg", "a/deep/er/again", "a/up", "linked/1.jpg"});
  CHECK(read_text(*source, entry_named(*source, "linked/1.jpg")) == "far");
  CHECK(read_text(*source, entry_named(*source, "a/2.jpg")) == "far");
  CHECK(entry_named(*source, "a/broken.jpg").problem == "broken symbolic link");
  CHECK(entry_named(*source, "a/self.jpg").problem == "loop of symbolic links");
  CHECK(entry_named(*source, "a/up").problem == "loop of symbolic links");
  CHECK(entry_named(*source, "a/deep/er/again").problem == "loop of symbolic links");
  const SourceEntry broken = entry_named(*source, "a/broken.jpg");
  ByteBuffer bytes;
  CHECK(error_of([&] { source->read(broken, bytes); }).message() == "broken symbolic link");
}

TEST_CASE("a broken link in place of a class folder is not passed over in silence") {
  const TempDir data, work;
  write_file(data / "a/1.jpg", "x");
  fs::create_symlink("gone", data / "b");
  const auto source = open_in(work, data.path());
  CHECK(entry_named(*source, "b").problem == "broken symbolic link");
}

TEST_CASE("what is no regular file is named and never opened for waiting") {
  const TempDir data, work;
  write_file(data / "a/1.jpg", "x");
  REQUIRE(::mkfifo((data / "a/fifo.jpg").c_str(), 0600) == 0);
  const auto source = open_in(work, data.path());
  CHECK(entry_named(*source, "a/fifo.jpg").problem == "is not a regular file");
}

TEST_CASE("folders and files without permission") {
  const TempDir data, work;
  open_to_all(data);
  open_to_all(work);
  write_file(data / "a/1.jpg", "x");
  write_file(data / "a/secret.jpg", "x");
  write_file(data / "b/locked/1.jpg", "x");
  write_file(data / "b/2.jpg", "x");
  fs::permissions(data / "a/secret.jpg", fs::perms::none);
  fs::permissions(data / "b/locked", fs::perms::none);
  {
    const WithoutRoot guard;
    const auto source = open_in(work, data.path());
    CHECK(keys_of(*source) == Names{"a/1.jpg", "a/secret.jpg", "b/2.jpg", "b/locked"});
    CHECK(entry_named(*source, "b/locked").problem == "permission denied");
    ByteBuffer bytes;
    const Error error = error_of([&] { source->read(entry_named(*source, "a/secret.jpg"), bytes); });
    CHECK(error.code() == ErrorCode::refused);
    CHECK(error.message() == "permission denied");
    CHECK(error.place().file == (data / "a/secret.jpg").native());
  }
  fs::permissions(data / "b/locked", fs::perms::all);
}

TEST_CASE("a root without permission is the machine's failure") {
  const TempDir data, work;
  open_to_all(work);
  write_file(data / "a/1.jpg", "x");
  fs::permissions(data.path(), fs::perms::none);
  {
    const WithoutRoot guard;
    CHECK(error_of([&] { open_in(work, data.path()); }).code() == ErrorCode::io);
  }
  fs::permissions(data.path(), fs::perms::owner_all);
}

TEST_CASE("names that are not UTF-8 are listed as they are") {
  const TempDir data, work;
  write_file(data / "a/\xff\xfe.jpg", "bytes");
  write_file(data / "caf\xe9/1.jpg", "x");
  write_file(data / "\xc3\xbc/new\nline.jpg", "x");
  const auto source = open_in(work, data.path());
  CHECK(keys_of(*source) == Names{"a/\xff\xfe.jpg", "caf\xe9/1.jpg", "\xc3\xbc/new\nline.jpg"});
  CHECK(read_text(*source, entry_named(*source, "a/\xff\xfe.jpg")) == "bytes");
  // Class names go into the dataset's description, which is UTF-8.
  CHECK(class_names(*source) == Names{"a", "caf\\xe9", "\xc3\xbc"});
}

TEST_CASE("sizes are filled when asked for") {
  const TempDir data, work;
  write_file(data / "a/1.jpg", "12345");
  write_file(data / "a/2.jpg", "");
  CHECK(entry_named(*open_in(work, data.path(), true), "a/1.jpg").size == 5);
  CHECK(entry_named(*open_in(work, data.path(), false), "a/1.jpg").size == 0);
}

TEST_CASE("a relative path and a trailing slash name the source by its folder") {
  const TempDir data, work;
  write_file(data / "set/a/1.jpg", "x");
  CHECK(open_in(work, data / "set/")->info().source_name == "set");
  CHECK(open_in(work, data / "set/a/..")->info().source_name == "set");
}

TEST_CASE("the digest depends on the list, not on where the folder lies") {
  const TempDir one, two, work;
  for (const TempDir* data : {&one, &two}) make_image_folder(data->path(), 2, 3);
  const std::uint64_t digest = open_in(work, one.path())->digest();
  CHECK(open_in(work, two.path())->digest() == digest);
  fs::rename(two / "val/n00000001/n00000001_0.JPEG", two / "val/n00000001/other.JPEG");
  CHECK(open_in(work, two.path())->digest() != digest);
}

TEST_CASE("the sample of real images") {
  if (external_data().empty()) {
    MESSAGE("IMGPACK_TEST_DATA is not set: real folders are not scanned");
    return;
  }
  const TempDir work;
  const auto sample = open_in(work, external_data() / "imagenet-sample");
  CHECK(sample->size() == 386);
  CHECK(split_names(*sample) == Names{"train", "val"});
  CHECK(class_names(*sample) == Names{"n01", "n02", "n03", "n04", "n07"});
  const auto odd = open_in(work, external_data() / "odd");
  CHECK(odd->info().source_kind == "flat-folder");
  CHECK(odd->size() == 45);
}

}  // namespace
}  // namespace imgpack
