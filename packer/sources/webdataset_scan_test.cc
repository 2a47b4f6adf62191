#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "imgpack/error.h"
#include "packer/sources/scan_testing.h"
#include "packer/sources/scans.h"
#include "packer/sources/test_tar.h"
#include "tests/support/files.h"

using namespace imgpack;
using namespace imgpack::testing;
using Keys = std::vector<std::string>;
using Labels = std::vector<std::int64_t>;

namespace {

bool warns_of(const Source& source, const std::string& text) {
  const auto& warnings = source.warnings();
  return std::any_of(warnings.begin(), warnings.end(), [&](const std::string& one) { return contains(one, text); });
}

/// The one shard "s.tar", opened.
std::unique_ptr<Source> open_shard(const TempDir& dir, TarBuilder& builder) {
  write_file(dir / "s.tar", builder.finish());
  return open_in(dir, dir / "s.tar");
}

std::string problem_of_label(const std::string& extension, const std::string& text) {
  const TempDir dir;
  const auto source = open_shard(dir, TarBuilder().add("1.jpg", "x").add("1." + extension, text));
  REQUIRE(source->size() == 1);
  const auto entries = entries_of(*source);
  CHECK(entries[0].label == kNoLabel);
  return entries[0].problem;
}

std::int64_t label_of(const std::string& extension, const std::string& text) {
  const TempDir dir;
  const auto source = open_shard(dir, TarBuilder().add("1." + extension, text).add("1.jpg", "x"));
  const auto entries = entries_of(*source);
  CHECK(entries[0].problem.empty());
  return entries[0].label;
}

}  // namespace

TEST_CASE("samples in tar order, with labels from .cls or .json and the image's bytes") {
  const TempDir dir;
  const auto source = open_shard(dir, TarBuilder(TarBuilder::Format::gnu)
                                          .add("b/0002.cls", "7\n")
                                          .add("b/0002.jpg", "image two")
                                          .add("a/0001.PNG", "image one")
                                          .add("a/0001.json", R"({"caption": "x", "label": 3})")
                                          .add("0003.webp", "image three"));
  CHECK(source->info().source_kind == "webdataset");
  CHECK(source->info().source_name == "s.tar");
  CHECK(source->info().classes.empty());
  CHECK(source->info().splits.empty());
  CHECK(keys_of(*source) == Keys{"s/b/0002.jpg", "s/a/0001.PNG", "s/0003.webp"});
  CHECK(labels_in(*source) == Labels{7, 3, kNoLabel});
  const auto entries = entries_of(*source);
  CHECK(read_text(*source, entries[0]) == "image two");
  CHECK(read_text(*source, entries[1]) == "image one");
  CHECK(read_text(*source, entries[2]) == "image three");
  CHECK(source->warnings().empty());
}

TEST_CASE("labels: what is accepted and what is a problem") {
  CHECK(label_of("cls", "0") == 0);
  CHECK(label_of("cls", "  999 \r\n") == 999);
  CHECK(label_of("cls", "-1") == kNoLabel);
  CHECK(label_of("CLS", "5") == 5);
  CHECK(label_of("json", R"({"cls": 5})") == 5);
  CHECK(label_of("json", R"({"caption": "no label here"})") == kNoLabel);
  CHECK(label_of("json", "[1, 2]") == kNoLabel);
  for (const char* bad : {"", "  ", "cat", "1.5", "1 2", "-2", "99999999999999999999", "0x10"}) {
    CAPTURE(bad);
    CHECK(contains(problem_of_label("cls", bad), ".cls"));
  }
  CHECK(contains(problem_of_label("cls", std::string(1000, '1')), "too long"));
  for (const char* bad : {"", "{", R"({"label": "cat"})", R"({"label": 1.5})", R"({"label": -2})", R"({"label": null})",
                          R"({"label": 18446744073709551615})"}) {
    CAPTURE(bad);
    CHECK(contains(problem_of_label("json", bad), ".json"));
  }
  CHECK(contains(problem_of_label("json", std::string(100000, '[')), ".json"));
}

TEST_CASE(".cls comes before .json") {
  const TempDir dir;
  const auto source =
      open_shard(dir, TarBuilder().add("1.json", R"({"label": 1})").add("1.cls", "2").add("1.jpg", "x"));
  CHECK(labels_in(*source) == Labels{2});
}

TEST_CASE("samples without an image, with two, with links: problems, not losses") {
  const TempDir dir;
  const auto source = open_shard(dir, TarBuilder()
                                          .add("1.txt", "words only")
                                          .add("1.cls", "1")
                                          .add("2.jpg", "x")
                                          .add("2.png", "y")
                                          .add("3.jpg", "x")
                                          .add_symlink("4.jpg", "3.jpg")
                                          .add("5.jpg", "x")
                                          .add_hardlink("5.cls", "1.cls")
                                          .add_sparse("6.jpg", 100000, 50000, "middle"));
  CHECK(keys_of(*source) == Keys{"s/1.txt", "s/2.jpg", "s/3.jpg", "s/4.jpg", "s/5.jpg", "s/6.jpg"});
  const auto entries = entries_of(*source);
  CHECK(contains(entries[0].problem, "no image"));
  CHECK(contains(entries[1].problem, "2 images ('2.jpg', '2.png')"));
  CHECK(entries[2].problem.empty());
  CHECK(contains(entries[3].problem, "symbolic link"));
  CHECK(contains(entries[4].problem, "'5.cls' is a hard link"));
  CHECK(contains(entries[5].problem, "sparse"));
}

TEST_CASE("other files of a sample are ignored with one warning; a mask is no second image") {
  const TempDir dir;
  const auto source = open_shard(dir, TarBuilder()
                                          .add_directory("d/")
                                          .add("d/1.jpg", "one")
                                          .add("d/1.seg.png", "mask")
                                          .add("d/1.txt", "caption")
                                          .add("d/2.jpg", "two")
                                          .add("d/2.txt", "caption")
                                          .add("d/3.v2.jpg", "three")
                                          .add("d/._1.jpg", "resource fork")
                                          .add("README", "read me")
                                          .add("d/4.ppm", "P6")
                                          .add("d/4.jpg", "four"));
  CHECK(keys_of(*source) == Keys{"s/d/1.jpg", "s/d/2.jpg", "s/d/3.v2.jpg", "s/d/4.jpg"});
  for (const SourceEntry& entry : entries_of(*source)) CHECK(entry.problem.empty());
  REQUIRE(source->warnings().size() == 1);
  for (const char* part : {".txt (2)", ".seg.png (1)", ".ppm (1)", "hidden or without extension (2)"}) {
    CHECK(warns_of(*source, part));
  }
}

TEST_CASE("many shards: sorted, keys unique over all of them, splits from their names") {
  const TempDir work;
  const TempDir dir;
  for (const char* name : {"val-0", "train-1", "train-0"}) {
    write_file(dir / (std::string(name) + ".tar"),
               TarBuilder().add("0.jpg", std::string(name)).add("0.cls", "4").add("1.jpg", "x").finish());
  }
  const Keys all = {"train-0/0.jpg", "train-0/1.jpg", "train-1/0.jpg", "train-1/1.jpg", "val-0/0.jpg", "val-0/1.jpg"};
  const auto source = open_in(work, dir.path());
  CHECK(keys_of(*source) == all);
  CHECK(split_names(*source) == Keys{"train", "val"});
  const auto entries = entries_of(*source);
  CHECK(entries[3].split == 0);
  CHECK(entries[4].split == 1);
  CHECK(read_text(*source, entries[4]) == "val-0");
  const auto pattern = open_in(work, dir.path().string() + "/{train-0,train-1,val-*}.tar");
  CHECK(keys_of(*pattern) == all);
  CHECK(pattern->digest() == source->digest());

  write_file(dir / "extra.tar", TarBuilder().add("0.jpg", "x").finish());
  const auto mixed = open_in(work, dir.path());
  CHECK(mixed->info().splits.empty());
  CHECK(mixed->size() == 7);
  CHECK(warns_of(*mixed, "1 of 4 shards"));
}

TEST_CASE("shards in split folders") {
  const TempDir work;
  const TempDir dir;
  write_file(dir / "train/000.tar", TarBuilder().add("0.jpg", "t").finish());
  write_file(dir / "test/000.tar", TarBuilder().add("0.jpg", "v").finish());
  const auto source = open_in(work, dir.path());
  CHECK(split_names(*source) == Keys{"train", "test"});
  CHECK(keys_of(*source) == Keys{"train/000/0.jpg", "test/000/0.jpg"});
}

TEST_CASE("what is a WebDataset and what is not") {
  const TempDir dir;
  write_file(dir / "no-extension", TarBuilder().add("0.jpg", "x").finish());
  CHECK(is_webdataset(dir / "no-extension"));
  write_file(dir / "text.csv", "path,label\n");
  CHECK_FALSE(is_webdataset(dir / "text.csv"));
  CHECK_FALSE(is_webdataset(dir / "nothing.tar"));
  CHECK_FALSE(is_webdataset("/dev/null"));
  // A stray tar does not make a folder of images one of shards.
  write_file(dir / "images/cat/1.jpg", "x");
  write_file(dir / "images/backup.tar", "x");
  CHECK_FALSE(is_webdataset(dir / "images"));
  write_file(dir / "flat/1.jpg", "x");
  write_file(dir / "flat/backup.tar", "x");
  CHECK_FALSE(is_webdataset(dir / "flat"));
  write_file(dir / "shards/logs/log.txt", "x");
  write_file(dir / "shards/000.tar", "x");
  CHECK(is_webdataset(dir / "shards"));
}

TEST_CASE("shards that are damaged, compressed or hold a member twice are refused, by name") {
  const TempDir dir;
  auto bytes = TarBuilder().add("0.jpg", std::string(2000, 'x')).finish();
  bytes.resize(1000);
  write_file(dir / "cut.tar", bytes);
  const Error cut = error_of([&] { open_in(dir, dir / "cut.tar"); });
  CHECK(cut.code() == ErrorCode::damaged);
  CHECK(contains(cut.place().file, "cut.tar"));

  for (const char* name : {"z.tar", "z.tar.gz"}) {
    write_file(dir / name, TarBuilder(TarBuilder::Format::pax_gzip).add("0.jpg", "x").finish());
    const Error error = error_of([&] { open_in(dir, dir / name); });
    CHECK(error.code() == ErrorCode::unsupported);
    CHECK(contains(error.what(), "gzip"));
  }

  write_file(dir / "twice.tar", TarBuilder().add("0.jpg", "x").add("1.jpg", "x").add("0.jpg", "y").finish());
  const Error twice = error_of([&] { open_in(dir, dir / "twice.tar"); });
  CHECK(twice.code() == ErrorCode::refused);
  CHECK(contains(twice.what(), "twice/0.jpg"));

  write_file(dir / "empty.tar", TarBuilder().finish());
  CHECK(error_of([&] { open_in(dir, dir / "empty.tar"); }).code() == ErrorCode::refused);
}
