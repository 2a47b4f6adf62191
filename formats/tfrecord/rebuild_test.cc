// Datasets whose index is missing, stale or damaged, and those that others wrote.
#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "formats/tfrecord/dataset_guess.h"
#include "formats/tfrecord/tfrecord_test_support.h"
#include "imgpack/error.h"
#include "tests/support/damage.h"
#include "tests/support/files.h"
#include "tests/support/images.h"

namespace imgpack::testing {
namespace {

namespace fs = std::filesystem;

using tfrecord::Example;

Example foreign_example(const std::string& image) {
  Example example;
  set_bytes(example, "image/encoded", image);
  return example;
}

std::string jpeg_text(std::uint32_t seed) {
  return std::string(as_text(make_jpeg(6, 5, seed)));
}

std::unique_ptr<StoreReader> open_text(const TempDir& folder, const std::string& file) {
  write_file(folder / "foreign.tfrecord", file);
  return open_store(folder / "foreign.tfrecord");
}

ErrorCode code_of_opening(const TempDir& folder, const std::string& file, std::uint64_t record, std::uint64_t offset) {
  try {
    open_text(folder, file);
  } catch (const Error& error) {
    CHECK(error.place().record == record);
    CHECK(error.place().offset == offset);
    CHECK(error.place().file.ends_with("foreign.tfrecord"));
    return error.code();
  }
  FAIL("it opened");
  return {};
}

TEST_CASE("without its index a dataset is the same, and the loss is reported") {
  const TempDir folder;
  const fs::path path = folder / "set.tfrecord";
  const TestDataset dataset = make_dataset(9);
  write_dataset(path, dataset);
  const DatasetInfo info = open_store(path)->info();
  fs::remove(folder / "set.tfrecord.imgpack");
  const auto store = open_store(path);
  check_holds(*store, dataset);
  CHECK(store->info() == info);
  DamageList found;
  store->check_container(found);
  REQUIRE(found.found().size() == 1);
  CHECK(found.found()[0].file.ends_with("set.tfrecord.imgpack"));
  CHECK(found.found()[0].what.find("imgpack convert") != std::string::npos);
}

TEST_CASE("an index that is older than the data is not used") {
  const TempDir folder;
  const fs::path path = folder / "set.tfrecord";
  const TestDataset dataset = make_dataset(3);
  write_dataset(path, dataset);
  make_older(folder / "set.tfrecord.imgpack");
  check_holds(*open_store(path), dataset);
  DamageList found;
  inspect(path, found);
  REQUIRE(found.found().size() == 1);
  CHECK(found.found()[0].what.find("older") != std::string::npos);
}

TEST_CASE("a damaged record does not take the others with it, although the damage made the data newer than its index") {
  const TempDir folder;
  const fs::path path = folder / "set.tfrecord";
  const TestDataset dataset = make_dataset(5);
  write_dataset(path, dataset);
  const std::uint64_t offset = open_store(path)->place(2).offset;
  std::vector<std::byte> bytes = read_file(path);
  bytes[offset] ^= std::byte{1};
  overwrite_file(path, bytes);
  make_older(folder / "set.tfrecord.imgpack");
  const auto store = open_store(path);
  CHECK(std::ranges::equal(store->bytes(4).payload, dataset.records[4].payload));
  DamageList found;
  inspect(path, found);
  REQUIRE(!found.empty());
  for (const Damage& damage : found.found()) CHECK(damage.record == 2u);
}

TEST_CASE("the index of another dataset of the same size is noticed, as a kill between two renames leaves it") {
  const TempDir folder;
  const TestDataset dataset = make_plain_dataset(6);
  write_dataset(folder / "a.tfrecord", dataset);
  // One label differs. Which of them it may be without a change of the file's size depends on the lengths of varints.
  bool same_size = false;
  for (std::size_t record = 0; record < 5 && !same_size; ++record) {
    TestDataset other = dataset;
    other.records[record].meta.label = (other.records[record].meta.label + 1) % 3;
    for (const char* suffix : {"", ".imgpack", ".idx"}) fs::remove(folder / (std::string("b.tfrecord") + suffix));
    write_dataset(folder / "b.tfrecord", other);
    same_size = fs::file_size(folder / "a.tfrecord") == fs::file_size(folder / "b.tfrecord");
  }
  REQUIRE(same_size);
  for (const char* suffix : {".imgpack", ".idx"})
    fs::copy_file(folder / (std::string("b.tfrecord") + suffix), folder / (std::string("a.tfrecord") + suffix),
                  fs::copy_options::overwrite_existing);
  const auto store = open_store(folder / "a.tfrecord");
  check_holds(*store, dataset);
  DamageList found;
  store->check_container(found);
  CHECK(!found.empty());
}

TEST_CASE("a damaged or shortened index never changes what is read, when the header or the description is hit") {
  const TempDir folder;
  const fs::path path = folder / "set.tfrecord";
  const fs::path index = folder / "set.tfrecord.imgpack";
  const TestDataset dataset = make_plain_dataset(2);
  write_dataset(path, dataset);
  const std::vector<std::byte> good = read_file(index);
  for_each_cut(good, 37, [&](std::span<const std::byte> cut) {
    overwrite_file(index, cut);
    check_holds(*open_store(path), dataset);
  });
  std::vector<std::byte> bad = good;
  for (std::size_t at = 0; at < 128; ++at) {
    bad[at] ^= std::byte{4};
    overwrite_file(index, bad);
    check_holds(*open_store(path), dataset);
    bad[at] = good[at];
  }
}

TEST_CASE("a foreign file of images alone opens") {
  const TempDir folder;
  const std::string images[] = {jpeg_text(1), jpeg_text(2), ""};
  std::string file;
  for (const std::string& image : images) file += frame_of(foreign_example(image));
  const auto store = open_text(folder, file);
  REQUIRE(store->size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(as_text(store->bytes(i).payload) == images[i]);
    CHECK(store->key(i) == fmt::format("{:08}", i));
    CHECK(store->find(store->key(i)) == i);
    const RecordMeta expected = {.payload_size = images[i].size(),
                                 .checksum = record_checksum(as_bytes(images[i]), {})};
    CHECK(store->meta(i) == expected);
  }
  CHECK(store->info().classes.empty());
  CHECK(store->info().splits.empty());
}

TEST_CASE("what a foreign file says is taken: classes, names, sizes, format in any case") {
  const TempDir folder;
  std::string file;
  for (int i = 0; i < 4; ++i) {
    Example example;
    set_int(example, "image/width", 6);
    set_int(example, "image/height", 5);
    set_bytes(example, "image/encoded", jpeg_text(7));
    set_bytes(example, "image/filename", fmt::format("n{}.jpg", i));
    set_bytes(example, "image/format", i % 2 == 0 ? "jpeg" : "JPEG");
    set_int(example, "image/class/label", 1 + i % 2);
    set_bytes(example, "image/class/text", i % 2 == 0 ? "goldfish" : "great white shark");
    set_bytes(example, "image/class/synset", i % 2 == 0 ? "n01443537" : "n01484850");
    set_bytes(example, "image/object/bbox/xmin", "someone else's feature");
    file += frame_of(example);
  }
  const auto store = open_text(folder, file);
  const std::vector<ClassInfo> classes = {{"0", ""}, {"n01443537", "goldfish"}, {"n01484850", "great white shark"}};
  CHECK(store->info().classes == classes);
  CHECK(store->key(3) == "n3.jpg");
  CHECK(store->meta(3).label == 2);
  CHECK(store->meta(3).width == 6);
  CHECK(store->meta(3).height == 5);
  CHECK(store->meta(2).codec == Codec::jpeg);
  CHECK(store->meta(3).codec == Codec::jpeg);
  CHECK(store->info().fields.empty());
  CHECK(store->info().pixels == 4 * 30);
}

TEST_CASE("keys that others have too become record numbers") {
  const TempDir folder;
  const auto with_key = [](const std::string& key) {
    Example example = foreign_example("x");
    set_bytes(example, "image/filename", key);
    return frame_of(example);
  };
  SUBCASE("only where it must be") {
    const auto store =
        open_text(folder, with_key("a") + with_key("b") + with_key("a") + with_key("\xff") + with_key(""));
    const char* const keys[] = {"a", "b", "00000002", "00000003", "00000004"};
    for (std::size_t i = 0; i < 5; ++i) CHECK(store->key(i) == keys[i]);
  }
  SUBCASE("everywhere, if such a number is a key already") {
    const auto store = open_text(folder, with_key("00000002") + with_key("a") + with_key("a"));
    for (std::size_t i = 0; i < 3; ++i) CHECK(store->key(i) == fmt::format("{:08}", i));
  }
}

TEST_CASE("labels that cannot be one class leave the record without label") {
  const TempDir folder;
  Example negative = foreign_example("x");
  set_int(negative, "image/class/label", -5);
  Example several = foreign_example("x");
  set_int(several, "image/class/label", 1);
  several.mutable_features()->mutable_feature(1)->mutable_value()->mutable_int64_list()->add_value(2);
  Example text = foreign_example("x");
  set_bytes(text, "image/class/label", "dog");
  Example sizes = foreign_example("x");
  set_int(sizes, "image/width", -1);
  set_int(sizes, "image/height", std::int64_t{1} << 32);
  const auto store = open_text(folder, frame_of(negative) + frame_of(several) + frame_of(text) + frame_of(sizes));
  for (std::size_t i = 0; i < 4; ++i) CHECK(store->meta(i).label == kNoLabel);
  CHECK(store->meta(3).width == 0);
  CHECK(store->meta(3).height == 0);
}

TEST_CASE("what is not one image a record is refused, naming record and offset") {
  const TempDir folder;
  const std::string first = frame_of(foreign_example("x"));
  Example none;
  set_int(none, "image/width", 1);
  CHECK(code_of_opening(folder, first + frame_of(none), 1, first.size()) == ErrorCode::unsupported);
  Example two = foreign_example("x");
  two.mutable_features()->mutable_feature(0)->mutable_value()->mutable_bytes_list()->add_value("y");
  CHECK(code_of_opening(folder, first + frame_of(two), 1, first.size()) == ErrorCode::unsupported);
  Example number;
  set_int(number, "image/encoded", 3);
  CHECK(code_of_opening(folder, first + frame_of(number), 1, first.size()) == ErrorCode::unsupported);
  CHECK(code_of_opening(folder, first + frame_of(std::string()), 1, first.size()) == ErrorCode::unsupported);
  CHECK(code_of_opening(folder, first + frame_of(std::string("\x0a\x7f")), 1, first.size()) == ErrorCode::damaged);
}

TEST_CASE("damage in a file without index is named by record and offset") {
  const TempDir folder;
  const std::string first = frame_of(foreign_example("x"));
  std::string file = first + frame_of(foreign_example("yy")) + first;
  file[first.size() + 20] ^= 1;
  CHECK(code_of_opening(folder, file, 1, first.size()) == ErrorCode::damaged);
  file[first.size() + 20] ^= 1;
  CHECK(code_of_opening(folder, file + "junk", 3, file.size()) == ErrorCode::damaged);
  CHECK(code_of_opening(folder, file.substr(0, file.size() - 1), 2, file.size() - first.size()) == ErrorCode::damaged);
}

TEST_CASE("files put one behind the other are one dataset") {
  const TempDir folder;
  TestDataset dataset = make_dataset(6);
  TestDataset first = dataset;
  TestDataset second = dataset;
  first.records.resize(3);
  second.records.erase(second.records.begin(), second.records.begin() + 3);
  write_dataset(folder / "a", first);
  write_dataset(folder / "b", second);
  const std::vector<std::byte> a = read_file(folder / "a");
  const std::vector<std::byte> b = read_file(folder / "b");
  const auto store = open_text(folder, std::string(as_text(a)) + std::string(as_text(b)));
  check_holds(*store, dataset);
  CHECK(store->info().splits == std::vector<Split>{{"train", 0, 3}, {"val", 3, 6}});
  CHECK(store->info().classes == dataset.info.classes);
}

TEST_CASE("class names: contradictions and excess leave none, gaps are numbers") {
  ClassGuess contradiction;
  contradiction.add(0, "cat", "");
  contradiction.add(0, "dog", "");
  CHECK(contradiction.take().empty());
  ClassGuess gap;
  gap.add(2, "cat", "");
  gap.add(-1, "nothing", "");
  gap.add(2, "", "");
  CHECK(gap.take() == std::vector<ClassInfo>{{"0", ""}, {"1", ""}, {"cat", ""}});
  ClassGuess unnamed;
  unnamed.add(0, "cat", "");
  unnamed.add(1, "", "");
  CHECK(unnamed.take() == std::vector<ClassInfo>{{"cat", ""}, {"1", ""}});
  ClassGuess large;
  large.add(0, "cat", "");
  large.add(ClassGuess::kMaxLabels, "far", "");
  CHECK(large.take().empty());
  ClassGuess binary;
  binary.add(0, "\xff\xfe", "");
  CHECK(binary.take().empty());
}

TEST_CASE("splits: runs of one name; too many, or not for all, are none") {
  SplitGuess guess;
  CHECK(guess.add(0, "train") == 0);
  CHECK(guess.add(1, "train") == 0);
  CHECK(guess.add(2, "val") == 1);
  CHECK(guess.add(3, "train") == 0);
  CHECK(guess.take() == std::vector<Split>{{"train", 0, 2}, {"val", 2, 3}, {"train", 3, 4}});
  SplitGuess late;
  late.add(0, std::nullopt);
  late.add(1, "train");
  CHECK(late.take().empty());
  SplitGuess early;
  early.add(0, "train");
  early.add(1, std::nullopt);
  CHECK(early.take().empty());
  SplitGuess many;
  for (std::uint64_t i = 0; i <= SplitGuess::kMaxRanges; ++i) many.add(i, i % 2 == 0 ? "a" : "b");
  CHECK(many.take().empty());
}

}  // namespace
}  // namespace imgpack::testing
