#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "imgpack/error.h"
#include "packer/sources/imagenet_names.h"
#include "packer/sources/scan_testing.h"
#include "packer/sources/scans.h"
#include "packer/sources/test_tar.h"
#include "tests/support/files.h"

using namespace imgpack;
using namespace imgpack::testing;
namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

namespace {

Bytes class_tar(const std::string& wnid, const std::vector<int>& numbers) {
  TarBuilder builder(TarBuilder::Format::gnu);
  for (const int n : numbers)
    builder.add(wnid + "_" + std::to_string(n) + ".JPEG", wnid + " image " + std::to_string(n));
  return builder.finish();
}

/// Neither classes nor images stand in sorted order.
void write_train_tar(const fs::path& path) {
  TarBuilder outer(TarBuilder::Format::ustar);
  outer.add("n01443537.tar", class_tar("n01443537", {22, 3, 100}));
  outer.add("n01440764.tar", class_tar("n01440764", {10026, 18}));
  outer.add("n01484850.tar", class_tar("n01484850", {7}));
  write_file(path, outer.finish());
}

std::string numbered(const std::string& kind, int i) {
  const std::string digits = std::to_string(i);
  return "ILSVRC2012_" + kind + "_" + std::string(8 - digits.size(), '0') + digits + ".JPEG";
}

void write_flat_tar(const fs::path& path, const std::string& kind, const std::string& folder = "") {
  TarBuilder builder(TarBuilder::Format::gnu);
  if (!folder.empty()) builder.add_directory(folder);
  for (const int i : {3, 1, 12, 2}) builder.add(folder + numbered(kind, i), kind + " image " + std::to_string(i));
  write_file(path, builder.finish());
}

bool warns_of(const Source& source, const std::string& text) {
  const auto& warnings = source.warnings();
  return std::any_of(warnings.begin(), warnings.end(), [&](const std::string& one) { return contains(one, text); });
}

}  // namespace

TEST_CASE("names of ImageNet's files") {
  CHECK(is_wnid("n01440764"));
  CHECK_FALSE(is_wnid("n0144076"));
  CHECK_FALSE(is_wnid("x01440764"));
  CHECK_FALSE(is_wnid("n0144076x"));
  CHECK(class_tar_wnid("n01440764.tar") == "n01440764");
  CHECK(class_tar_wnid("n01440764.tar.gz").empty());
  CHECK(class_tar_wnid(".tar").empty());
  CHECK(is_numbered_image("ILSVRC2012_val_00000001.JPEG", "val"));
  CHECK(is_numbered_image("ILSVRC2017_test_00000001.JPEG", "test"));
  for (const char* name :
       {"ILSVRC2012_val_00000001.JPEG", "ILSVRC.JPEG", "ILSVRC_JPEG", "ILSVRC2012_test_1.JPEG", "x", ""}) {
    CHECK_FALSE(is_numbered_image(name, "test"));
  }
}

TEST_CASE("the tar of class tars: sorted classes and images, bytes read from inside the inner tars") {
  const TempDir dir;
  write_train_tar(dir / "ILSVRC2012_img_train.tar");
  const auto source = open_in(dir, dir / "ILSVRC2012_img_train.tar");
  CHECK(source->info().source_kind == "imagenet-tars");
  CHECK(source->info().source_name == "ILSVRC2012_img_train.tar");
  CHECK(class_names(*source) == std::vector<std::string>{"n01440764", "n01443537", "n01484850"});
  CHECK(split_names(*source) == std::vector<std::string>{"train"});
  CHECK(keys_of(*source) ==
        std::vector<std::string>{"train/n01440764/n01440764_10026.JPEG", "train/n01440764/n01440764_18.JPEG",
                                 "train/n01443537/n01443537_100.JPEG", "train/n01443537/n01443537_22.JPEG",
                                 "train/n01443537/n01443537_3.JPEG", "train/n01484850/n01484850_7.JPEG"});
  CHECK(labels_in(*source) == std::vector<std::int64_t>{0, 0, 1, 1, 1, 2});
  const std::vector<std::string> contents = {"n01440764 image 10026", "n01440764 image 18", "n01443537 image 100",
                                             "n01443537 image 22",    "n01443537 image 3",  "n01484850 image 7"};
  const auto entries = entries_of(*source);
  for (std::size_t i = 0; i < contents.size(); ++i) {
    CHECK(read_text(*source, entries[i]) == contents[i]);
    CHECK(entries[i].size == contents[i].size());
  }
  CHECK(source->warnings().empty());
}

TEST_CASE("tars are recognised by what is in them, not by their names") {
  const TempDir dir;
  write_train_tar(dir / "a");
  write_flat_tar(dir / "b.tar", "val");
  write_flat_tar(dir / "c.tar", "test", "./test/");
  for (const char* name : {"a", "b.tar", "c.tar"}) CHECK(is_imagenet_tars(dir / name));
  write_file(dir / "photos.tar", TarBuilder().add("x.jpg", "x").finish());
  write_file(dir / "text", "no tar");
  for (const char* name : {"photos.tar", "text", "nothing"}) CHECK_FALSE(is_imagenet_tars(dir / name));
  CHECK_FALSE(is_imagenet_tars("/dev/null"));
  const auto source = open_in(dir, dir / "c.tar");
  CHECK(keys_of(*source)[3] == "test/" + numbered("test", 12));
}

TEST_CASE("a folder of the three downloads: train, val and test, in this order") {
  const TempDir work;
  const TempDir dir;
  write_train_tar(dir / "ILSVRC2012_img_train.tar");
  write_flat_tar(dir / "ILSVRC2012_img_val.tar", "val");
  write_flat_tar(dir / "ILSVRC2012_img_test_v10102019.tar", "test", "test/");
  write_file(dir / "readme.txt", "hello");
  const auto source = open_in(work, dir.path());
  CHECK(split_names(*source) == std::vector<std::string>{"train", "val", "test"});
  REQUIRE(source->size() == 14);
  const auto entries = entries_of(*source);
  const std::vector<int> order = {1, 2, 3, 12};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& val = entries[6 + i];
    const auto& test = entries[10 + i];
    CHECK(val.key == "val/" + numbered("val", order[i]));
    CHECK(val.split == 1);
    CHECK(val.label == kNoLabel);
    CHECK(read_text(*source, val) == "val image " + std::to_string(order[i]));
    CHECK(test.key == "test/" + numbered("test", order[i]));
    CHECK(test.split == 2);
    CHECK(test.label == kNoLabel);
    CHECK(read_text(*source, test) == "test image " + std::to_string(order[i]));
  }
  CHECK(warns_of(*source, "ILSVRC2012_devkit_t12.tar.gz"));
}

TEST_CASE("a build from the tars is a build from the unpacked folders: same keys, labels, order and bytes") {
  const TempDir work;
  const TempDir dir;
  write_train_tar(dir / "tars/ILSVRC2012_img_train.tar");
  const auto tars = open_in(work, dir / "tars");
  const std::string unpack = "cd '" + dir.path().string() +
                             "' && mkdir -p once folder/train && tar -C once -xf tars/ILSVRC2012_img_train.tar && "
                             "for t in once/*.tar; do c=$(basename $t .tar); mkdir folder/train/$c && "
                             "tar -C folder/train/$c -xf $t || exit 1; done";
  REQUIRE(std::system(unpack.c_str()) == 0);
  for (const char* other : {"folder", "once"}) {  // "once": class tars, unpacked half way
    CAPTURE(other);
    const auto folder = open_in(work, dir / other);
    CHECK(keys_of(*folder) == keys_of(*tars));
    CHECK(labels_in(*folder) == labels_in(*tars));
    CHECK(class_names(*folder) == class_names(*tars));
    CHECK(split_names(*folder) == split_names(*tars));
    CHECK(folder->digest() == tars->digest());
    const auto a = entries_of(*folder);
    const auto b = entries_of(*tars);
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(read_text(*folder, a[i]) == read_text(*tars, b[i]));
  }
}

TEST_CASE("members that can't be read in place become entries with a problem") {
  const TempDir dir;
  const Bytes inner = TarBuilder()
                          .add("n01440764_1.JPEG", "one")
                          .add_symlink("n01440764_2.JPEG", "n01440764_1.JPEG")
                          .add_hardlink("n01440764_3.JPEG", "n01440764_1.JPEG")
                          .finish();
  write_file(dir / "t.tar", TarBuilder().add("n01440764.tar", inner).finish());
  const auto source = open_in(dir, dir / "t.tar");
  REQUIRE(source->size() == 3);
  const auto entries = entries_of(*source);
  CHECK(entries[0].problem.empty());
  CHECK(contains(entries[1].problem, "symbolic link"));
  CHECK(contains(entries[2].problem, "hard link"));
}

TEST_CASE("damage in an inner tar names class, file and place") {
  const TempDir dir;
  Bytes inner = class_tar("n01443537", {1, 2});
  inner[1024 + 10] ^= std::byte{1};  // the second header
  write_file(dir / "ILSVRC2012_img_train.tar",
             TarBuilder(TarBuilder::Format::ustar).add("n01443537.tar", inner).finish());
  const Error error = error_of([&] { open_in(dir, dir / "ILSVRC2012_img_train.tar"); });
  CHECK(error.code() == ErrorCode::damaged);
  CHECK(contains(error.what(), "n01443537.tar"));
  CHECK(contains(error.place().file, "ILSVRC2012_img_train.tar"));
  CHECK(error.place().offset == 512 + 1024);
}

TEST_CASE("downloads that are cut off, compressed, doubled or empty are refused with the reason") {
  const TempDir dir;
  write_train_tar(dir / "ILSVRC2012_img_train.tar");
  Bytes bytes = read_file(dir / "ILSVRC2012_img_train.tar");
  bytes.resize(bytes.size() / 2);
  write_file(dir / "ILSVRC2012_img_train.tar", bytes);
  const Error cut = error_of([&] { open_in(dir, dir / "ILSVRC2012_img_train.tar"); });
  CHECK(cut.code() == ErrorCode::damaged);
  CHECK(contains(cut.what(), "cut off"));

  const Bytes gzip = TarBuilder(TarBuilder::Format::pax_gzip).add(numbered("val", 1), "x").finish();
  write_file(dir / "z/ILSVRC2012_img_val.tar", gzip);
  for (const fs::path& path : {dir / "z", dir / "z/ILSVRC2012_img_val.tar"}) {
    const Error error = error_of([&] { open_in(dir, path); });
    CHECK(error.code() == ErrorCode::unsupported);
    CHECK(contains(error.what(), "gzip"));
  }

  write_flat_tar(dir / "two/a.tar", "val");
  write_flat_tar(dir / "two/b.tar", "val");
  const Error two = error_of([&] { open_in(dir, dir / "two"); });
  CHECK(two.code() == ErrorCode::refused);
  CHECK(contains(two.what(), "a.tar"));
  CHECK(contains(two.what(), "b.tar"));

  TarBuilder twice(TarBuilder::Format::ustar);
  twice.add("n01443537.tar", class_tar("n01443537", {1})).add("n01443537.tar", class_tar("n01443537", {2}));
  write_file(dir / "twice.tar", twice.finish());
  CHECK(contains(error_of([&] { open_in(dir, dir / "twice.tar"); }).what(), "twice"));

  TarBuilder hollow(TarBuilder::Format::ustar);
  hollow.add("n01443537.tar", "");
  write_file(dir / "hollow.tar", hollow.finish());
  CHECK(error_of([&] { open_in(dir, dir / "hollow.tar"); }).code() == ErrorCode::damaged);
}

TEST_CASE("what is ignored is said: strays, classes without images, other tasks, unpacked folders") {
  const TempDir work;
  const TempDir dir;
  TarBuilder outer;
  outer.add("n01443537.tar", class_tar("n01443537", {1})).add("readme.txt", "hi");
  outer.add("n01440764.tar", TarBuilder().finish());
  write_file(dir / "ILSVRC2012_img_train.tar", outer.finish());
  write_train_tar(dir / "ILSVRC2012_img_train_t3.tar");
  fs::create_directories(dir / "val");
  const auto source = open_in(work, dir.path());
  CHECK(keys_of(*source) == std::vector<std::string>{"train/n01443537/n01443537_1.JPEG"});
  CHECK(labels_in(*source) == std::vector<std::int64_t>{1});
  CHECK(warns_of(*source, "readme.txt"));
  CHECK(warns_of(*source, "n01440764"));
  CHECK(warns_of(*source, "_t3"));
  CHECK(warns_of(*source, "'val'"));
}

TEST_CASE("validation images never lose their labels in silence when the devkit beside them is broken") {
  const TempDir work;
  const TempDir dir;
  write_flat_tar(dir / "ILSVRC2012_img_val.tar", "val");
  write_file(dir / "ILSVRC2012_devkit_t12/data/meta.mat", "not MATLAB");
  write_file(dir / "ILSVRC2012_devkit_t12/data/ILSVRC2012_validation_ground_truth.txt", "1\n2\n3\n4\n");
  const Error error = error_of([&] { open_in(work, dir.path()); });
  CHECK((error.code() == ErrorCode::damaged || error.code() == ErrorCode::unsupported));  // without matio
  CHECK(contains(error.what(), "meta.mat"));
}
