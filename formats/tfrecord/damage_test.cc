// Every byte of the three files changed, every length cut: never a crash, always a report.
#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "formats/tfrecord/frame.h"
#include "formats/tfrecord/tfrecord_test_support.h"
#include "imgpack/error.h"
#include "tests/support/damage.h"
#include "tests/support/files.h"

namespace imgpack::testing {
namespace {

namespace fs = std::filesystem;

class Files {
 public:
  explicit Files(const TestDataset& dataset) : path(folder_ / "set.tfrecord") {
    write_dataset(path, dataset);
    make_older(path);
    data_time_ = fs::last_write_time(path);
  }
  fs::path beside(const char* suffix) const { return fs::path(path.string() + suffix); }
  void write_data(std::span<const std::byte> bytes) {
    overwrite_file(path, bytes);
    fs::last_write_time(path, data_time_);  // so that the index stays in use
  }

 private:
  TempDir folder_;
  fs::file_time_type data_time_;

 public:
  fs::path path;
};

/// The record whose frame has the byte at `offset`.
std::uint64_t record_at(std::span<const std::byte> file, std::size_t offset) {
  std::uint64_t begin = 0;
  for (std::uint64_t record = 0;; ++record) {
    Frame frame;
    REQUIRE(read_frame(file, begin, frame) == FrameStatus::ok);
    if (offset < begin + frame.size) return record;
    begin += frame.size;
  }
}

TEST_CASE("every changed byte of the data is reported for the record that has it") {
  Files files(make_dataset(3));
  const std::vector<std::byte> good = read_file(files.path);
  for_each_flip(good, 1, [&](std::span<const std::byte> bad, std::size_t offset) {
    files.write_data(bad);
    DamageList found;
    inspect(files.path, found);
    CAPTURE(offset);
    // The first frame's header is also what the format is recognised by.
    if (offset < kFrameHeaderBytes) {
      REQUIRE(!found.empty());
    } else {
      REQUIRE(found.names_record(record_at(good, offset)));
    }
  });
}

TEST_CASE("every changed byte of the data is an error where there is no index") {
  Files files(make_plain_dataset(2));
  fs::remove(files.beside(".imgpack"));
  const std::vector<std::byte> good = read_file(files.path);
  for_each_flip(good, 1, [&](std::span<const std::byte> bad, std::size_t offset) {
    files.write_data(bad);
    CAPTURE(offset);
    try {
      open_store(files.path);
      FAIL("it opened");
    } catch (const Error& error) {
      REQUIRE(error.code() == ErrorCode::damaged);
    }
  });
}

TEST_CASE("every length of the data is reported") {
  Files files(make_dataset(3));
  const std::vector<std::byte> good = read_file(files.path);
  for_each_cut(good, 1, [&](std::span<const std::byte> cut) {
    files.write_data(cut);
    DamageList found;
    inspect(files.path, found);
    CAPTURE(cut.size());
    REQUIRE(!found.empty());
  });
}

TEST_CASE("bytes behind the last frame are reported") {
  Files files(make_plain_dataset(2));
  std::vector<std::byte> longer = read_file(files.path);
  longer.push_back(std::byte{0});
  files.write_data(longer);
  DamageList found;
  inspect(files.path, found);
  CHECK(!found.empty());
}

void check_side_file(const char* suffix, const TestDataset& dataset) {
  Files files(dataset);
  const fs::path side = files.beside(suffix);
  const std::vector<std::byte> good = read_file(side);
  for_each_flip(good, 1, [&](std::span<const std::byte> bad, std::size_t offset) {
    overwrite_file(side, bad);
    DamageList found;
    inspect(files.path, found);
    CAPTURE(offset);
    REQUIRE(!found.empty());
  });
  for_each_cut(good, 1, [&](std::span<const std::byte> cut) {
    overwrite_file(side, cut);
    DamageList found;
    inspect(files.path, found);
    CAPTURE(cut.size());
    REQUIRE(!found.empty());
  });
  fs::remove(side);
  DamageList found;
  inspect(files.path, found);
  REQUIRE(found.found().size() == 1);
  CHECK(found.found()[0].file == side.string());
  CHECK(found.found()[0].what.find("imgpack convert") != std::string::npos);
}

TEST_CASE("every changed byte and every length of the index is reported") {
  check_side_file(".imgpack", make_dataset(2));
}

TEST_CASE("every changed byte and every length of the .idx is reported") {
  check_side_file(".idx", make_plain_dataset(3));
}

TEST_CASE("frames in another order are reported, though each is intact") {
  Files files(make_plain_dataset(4));
  const std::vector<std::byte> good = read_file(files.path);
  std::vector<Frame> frames(4);
  std::uint64_t offset = 0;
  for (Frame& frame : frames) {
    REQUIRE(read_frame(good, offset, frame) == FrameStatus::ok);
    offset += frame.size;
  }
  std::swap(frames[1], frames[2]);
  std::vector<std::byte> swapped;
  for (const Frame& frame : frames) {
    const auto part = std::span(good).subspan(frame.offset, frame.size);
    swapped.insert(swapped.end(), part.begin(), part.end());
  }
  files.write_data(swapped);
  DamageList found;
  inspect(files.path, found);
  CHECK(!found.empty());
}

}  // namespace
}  // namespace imgpack::testing
