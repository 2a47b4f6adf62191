#include <filesystem>
#include <string>
#include <vector>

#include "packer/sources/scan_testing.h"
#include "packer/sources/scans.h"

namespace imgpack {
namespace {

namespace fs = std::filesystem;
using namespace imgpack::testing;
using Names = std::vector<std::string>;
using Labels = std::vector<std::int64_t>;

constexpr const char* kMapping =
    "n01440764 tench, Tinca tinca\n"
    "n01443537 goldfish, Carassius auratus\n"
    "n01484850 great white shark\n";
constexpr const char* kSolution =
    "ImageId,PredictionString\n"
    "ILSVRC2012_val_00000002,n01440764 85 1 499 272 \n"
    "ILSVRC2012_val_00000001,n01443537 131 0 499 254 n01443537 1 2 3 4 \n";

/// The layout as it is unpacked, with two classes.
void make_layout(const fs::path& folder) {
  const fs::path images = folder / "ILSVRC/Data/CLS-LOC";
  write_file(images / "train/n01443537/n01443537_2.JPEG", "goldfish");
  write_file(images / "train/n01440764/n01440764_10.JPEG", "tench");
  write_file(images / "val/ILSVRC2012_val_00000001.JPEG", "val 1");
  write_file(images / "val/ILSVRC2012_val_00000002.JPEG", "val 2");
  write_file(images / "test/ILSVRC2012_test_00000001.JPEG", "test 1");
  write_file(folder / "ILSVRC/Annotations/CLS-LOC/val/ILSVRC2012_val_00000001.xml", "<annotation/>");
  write_file(folder / "ILSVRC/ImageSets/CLS-LOC/val.txt", "ILSVRC2012_val_00000001 1\n");
  write_file(folder / "LOC_synset_mapping.txt", kMapping);
  write_file(folder / "LOC_val_solution.csv", kSolution);
}

TEST_CASE("Kaggle's layout, from any of its folders") {
  const TempDir data, work;
  make_layout(data.path());
  for (const char* root : {"", "ILSVRC", "ILSVRC/Data", "ILSVRC/Data/CLS-LOC", "ILSVRC/Data/CLS-LOC/"}) {
    CAPTURE(root);
    const auto source = open_in(work, data / root);
    CHECK(source->info().source_kind == "kaggle");
    CHECK(split_names(*source) == Names{"train", "val", "test"});
    CHECK(class_names(*source) == Names{"n01440764", "n01443537"});
    CHECK(source->info().classes[0].words == "tench, Tinca tinca");
    CHECK(keys_of(*source) == Names{"train/n01440764/n01440764_10.JPEG", "train/n01443537/n01443537_2.JPEG",
                                    "val/ILSVRC2012_val_00000001.JPEG", "val/ILSVRC2012_val_00000002.JPEG",
                                    "test/ILSVRC2012_test_00000001.JPEG"});
    CHECK(labels_in(*source) == Labels{0, 1, 1, 0, -1});
    CHECK(source->warnings().empty());
    CHECK(read_text(*source, entry_named(*source, "val/ILSVRC2012_val_00000002.JPEG")) == "val 2");
  }
}

TEST_CASE("Kaggle: val images that the solution does not know, or whose class is not in train") {
  const TempDir data, work;
  make_layout(data.path());
  write_file(data / "ILSVRC/Data/CLS-LOC/val/ILSVRC2012_val_00000003.JPEG", "val 3");
  write_file(data / "ILSVRC/Data/CLS-LOC/val/ILSVRC2012_val_00000004.JPEG", "val 4");
  write_file(data / "LOC_val_solution.csv", std::string(kSolution) + "ILSVRC2012_val_00000004,n09999999 1 2 3 4\n");
  const auto source = open_in(work, data.path());
  CHECK(contains(entry_named(*source, "val/ILSVRC2012_val_00000003.JPEG").problem, "has no row"));
  CHECK(contains(entry_named(*source, "val/ILSVRC2012_val_00000004.JPEG").problem, "not one of train's"));
}

TEST_CASE("Kaggle: without its text files there are no words and no val labels, with a warning each") {
  const TempDir data, work;
  make_layout(data.path());
  fs::remove(data / "LOC_synset_mapping.txt");
  fs::remove(data / "LOC_val_solution.csv");
  const auto source = open_in(work, data.path());
  CHECK(labels_in(*source) == Labels{0, 1, -1, -1, -1});
  REQUIRE(source->warnings().size() == 2);
  CHECK(contains(source->warnings()[0], "LOC_synset_mapping.txt"));
  CHECK(contains(source->warnings()[1], "LOC_val_solution.csv"));
}

TEST_CASE("Kaggle: val alone takes its classes from the mapping, val in class folders from their names") {
  const TempDir data, work;
  make_layout(data.path());
  SUBCASE("val alone") {
    fs::remove_all(data / "ILSVRC/Data/CLS-LOC/train");
    const auto source = open_in(work, data.path());
    CHECK(class_names(*source) == Names{"n01440764", "n01443537", "n01484850"});
    CHECK(split_names(*source) == Names{"val", "test"});
    CHECK(labels_in(*source) == Labels{1, 0, -1});
  }
  SUBCASE("val in class folders") {
    const fs::path val = data / "ILSVRC/Data/CLS-LOC/val";
    fs::create_directories(val / "n01443537");
    fs::create_directories(val / "n01440764");
    fs::rename(val / "ILSVRC2012_val_00000001.JPEG", val / "n01443537/1.JPEG");
    fs::rename(val / "ILSVRC2012_val_00000002.JPEG", val / "n01440764/2.JPEG");
    const auto source = open_in(work, data.path());
    CHECK(labels_in(*source) == Labels{0, 1, 0, 1, -1});
  }
}

TEST_CASE("Kaggle: text files that are not what they should be") {
  const TempDir data, work;
  make_layout(data.path());
  SUBCASE("a mapping line without words") {
    write_file(data / "LOC_synset_mapping.txt", "n01440764 tench\nn01443537\n");
    const Error error = error_of([&] { open_in(work, data.path()); });
    CHECK(error.code() == ErrorCode::damaged);
    CHECK(contains(error.place().file, "LOC_synset_mapping.txt"));
    CHECK(error.place().record == 2);
    CHECK(error.place().offset == 16);
  }
  SUBCASE("another header") {
    write_file(data / "LOC_val_solution.csv", "id,class\n");
    CHECK(error_of([&] { open_in(work, data.path()); }).code() == ErrorCode::damaged);
  }
  SUBCASE("an empty prediction") {
    write_file(data / "LOC_val_solution.csv", "ImageId,PredictionString\nILSVRC2012_val_00000001,\n");
    CHECK(error_of([&] { open_in(work, data.path()); }).place().record == 2);
  }
}

TEST_CASE("an ordinary folder is not Kaggle's") {
  const TempDir data;
  write_file(data / "train/a/1.jpg", "x");
  write_file(data / "val/a/1.jpg", "x");
  CHECK_FALSE(is_kaggle_layout(data.path()));
  CHECK_FALSE(is_kaggle_layout(data / "missing"));
}

}  // namespace
}  // namespace imgpack
