#include "measure/subject.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "imgpack/build.h"
#include "measure/look_at.h"
#include "measure/pass_order.h"
#include "tests/support/files.h"
#include "tests/support/images.h"
#include "tests/support/thrown.h"

namespace imgpack::measure {

namespace {

namespace fs = std::filesystem;
using testing::code_of;
using testing::TempDir;

constexpr std::uint64_t kTrain = 18;
constexpr std::uint64_t kVal = 6;

/// A folder with splits, and what is packed of it.
class Images {
 public:
  Images() { testing::make_image_folder(folder(), 3, 6); }
  std::string folder() const { return (folder_.path() / "images").string(); }
  std::string packed(const std::string& name, const BuildOptions& options = {}) const {
    const fs::path out = folder_.path() / name;
    build(folder(), out, options);
    return out.string();
  }
  std::string absent() const { return (folder_.path() / "absent").string(); }

 private:
  TempDir folder_;
};

void check_same_images(const Subject& a, const Subject& b) {
  REQUIRE(a.size() == b.size());
  const auto opened_a = a.open();
  const auto opened_b = b.open();
  REQUIRE(opened_a->size() == a.size());
  for (std::uint64_t i = 0; i < a.size(); ++i) {
    ByteBuffer buffer_a;
    ByteBuffer buffer_b;
    const RecordBytes bytes_a = opened_a->read(i, buffer_a);
    const RecordBytes bytes_b = opened_b->read(i, buffer_b);
    CHECK(std::ranges::equal(bytes_a.payload, bytes_b.payload));
    const RecordMeta meta_a = opened_a->meta(i, bytes_a);
    const RecordMeta meta_b = opened_b->meta(i, bytes_b);
    CHECK(meta_a.width == meta_b.width);
    CHECK(meta_a.height == meta_b.height);
    CHECK(meta_a.codec == meta_b.codec);
  }
}

}  // namespace

TEST_CASE("a folder and what was packed of it are the same images") {
  const Images images;
  const auto folder = open_subject(images.folder());
  CHECK(folder->kind() == "folder");
  CHECK(folder->is_folder());
  CHECK(folder->size() == kTrain + kVal);
  CHECK(folder->files().size() == kTrain + kVal);
  CHECK(folder->dataloader() == "loose files (thread pool)");
  for (const Format format : {Format::rec, Format::lmdb, Format::hdf5, Format::tfrecord}) {
    if (!format_available(format)) continue;
    CAPTURE(to_string(format));
    const auto packed = open_subject(images.packed("out." + std::string(to_string(format))));
    CHECK(packed->kind() == to_string(format));
    CHECK_FALSE(packed->is_folder());
    CHECK(packed->dataloader() == "imgpack (" + packed->kind() + ")");
    check_same_images(*folder, *packed);
    CHECK(packed->read_first() == folder->read_first());
  }
}

TEST_CASE("a split is a part of both") {
  const Images images;
  const std::string packed = images.packed("out.rec");
  const auto folder = open_subject(images.folder(), "val");
  CHECK(folder->size() == kVal);
  CHECK(folder->name() == images.folder());
  check_same_images(*folder, *open_subject(packed, "val"));
  CHECK(open_subject(packed, "train")->read_first() == open_subject(images.folder(), "train")->read_first());
  CHECK(code_of([&] { open_subject(packed, "nope"); }) == ErrorCode::not_found);
  CHECK(code_of([&] { open_subject(images.folder(), "nope"); }) == ErrorCode::not_found);
}

TEST_CASE("the files of a dataset are all that is read of it") {
  const Images images;
  const std::string sharded = images.packed("shards.rec", {.shards = 3});
  CHECK(open_subject(sharded)->files().size() == 3);
  if (format_available(Format::tfrecord)) {
    const auto subject = open_subject(images.packed("out.tfrecord"));
    REQUIRE(subject->files().size() == 3);
    CHECK(subject->files()[1].extension() == ".idx");
    CHECK(subject->files()[2].extension() == ".imgpack");
  }
}

TEST_CASE("what is no subject") {
  const Images images;
  CHECK(code_of([&] { open_subject(images.absent()); }) == ErrorCode::not_found);
  CHECK(code_of([&] { open_subject("/dev/null"); }) == ErrorCode::invalid_argument);
  testing::write_file(images.absent() + "/image.jpg", "no image");
  CHECK(code_of([&] { open_subject(images.absent() + "/image.jpg"); }) == ErrorCode::damaged);
}

TEST_CASE("every byte is looked at") {
  CHECK(look_at({}) == 0);
  CHECK(look_at(testing::as_bytes("0123456789a")) == 11);
}

TEST_CASE("each pass has every image once, in an order of its own") {
  PassOrder order(7, 3, false);
  std::vector<std::uint64_t> passes[2];
  for (auto& pass : passes) {
    for (int i = 0; i < 7; ++i) pass.push_back(order.next().value());
  }
  CHECK(passes[0] != passes[1]);
  for (auto& pass : passes) {
    std::ranges::sort(pass);
    CHECK(pass == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6});
  }
  PassOrder single(2, 3, true);
  CHECK(single.next().has_value());
  CHECK(single.next().has_value());
  CHECK_FALSE(single.next().has_value());
  CHECK_FALSE(PassOrder(0, 1, false).next().has_value());
}

}  // namespace imgpack::measure
