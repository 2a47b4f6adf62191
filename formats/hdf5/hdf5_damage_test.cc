#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "formats/hdf5/hdf5_format.h"
#include "formats/hdf5/metadata_check.h"
#include "imgpack/error.h"
#include "imgpack/verify.h"
#include "mmap/file.h"
#include "tests/support/damage.h"
#include "tests/support/files.h"
#include "tests/support/store_fixture.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace {

/// A file whose content changes in place: thousands of truncations would make the file system wait for the disk.
class ChangingFile {
 public:
  explicit ChangingFile(const std::filesystem::path& path) : file_(File::open(path, File::Mode::create)) {}
  const std::filesystem::path& set(std::span<const std::byte> bytes) {
    file_.write_at(0, bytes);
    if (file_.size() != bytes.size()) file_.truncate(bytes.size());
    return file_.path();
  }

 private:
  File file_;
};

bool damage_is_noticed(const std::filesystem::path& path) {
  return verify(path, {.threads = 1}).damage_count > 0;
}

/// Reads all that a reader may be asked for, without having the file checked before.
void read_all(const std::filesystem::path& path) {
  try {
    const auto store = open_hdf5(path);
    for (std::uint64_t i = 0; i < store->size(); ++i) {
      try {
        const RecordBytes bytes = store->bytes(i);
        record_checksum(bytes.payload, bytes.segments);
        for (std::size_t f = 0; f < store->info().fields.size(); ++f) record_checksum(store->field(i, f), {});
        store->find(store->key(i));
        store->meta(i);
      } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::damaged);
      }
    }
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::damaged);
  }
}

std::vector<std::byte> sound_file(const TempDir& dir, const TestDatasetOptions& options) {
  write_dataset(dir / "good.h5", make_dataset(options), {.format = Format::hdf5, .overwrite = true});
  REQUIRE(verify(dir / "good.h5", {}).damage_count == 0);
  return read_file(dir / "good.h5");
}

}  // namespace

TEST_CASE("every changed byte of an HDF5 file is found") {
  const TempDir dir;
  ChangingFile bad(dir / "bad.h5");
  for (const TestDatasetOptions& options :
       {TestDatasetOptions{.records = 3, .payload_size = 20},
        TestDatasetOptions{.records = 5, .payload_size = 20, .segments = true, .fields = true},
        TestDatasetOptions{.records = 0}}) {
    for_each_flip(sound_file(dir, options), 1, [&](std::span<const std::byte> bytes, std::size_t offset) {
      const auto& path = bad.set(bytes);
      CAPTURE(offset);
      CHECK(damage_is_noticed(path));
      if (offset >= 8) read_all(path);  // before that, it is no HDF5 file
    });
  }
}

TEST_CASE("an HDF5 file cut at any length is refused") {
  const TempDir dir;
  ChangingFile bad(dir / "bad.h5");
  const auto good = sound_file(dir, {.records = 5, .payload_size = 20, .segments = true, .fields = true});
  for_each_cut(good, 1, [&](std::span<const std::byte> bytes) {
    CAPTURE(bytes.size());
    CHECK(damage_is_noticed(bad.set(bytes)));
  });
}

TEST_CASE("bytes behind the end of an HDF5 file are found") {
  const TempDir dir;
  std::vector<std::byte> bytes = sound_file(dir, {});
  bytes.push_back(std::byte{0});
  write_file(dir / "bad.h5", bytes);
  CHECK(damage_is_noticed(dir / "bad.h5"));
}

TEST_CASE("whole stretches of zeros or noise in an HDF5 file are found") {
  const TempDir dir;
  ChangingFile bad(dir / "bad.h5");
  const auto good = sound_file(dir, {.records = 40, .payload_size = 50, .segments = true, .fields = true});
  for (const bool zeros : {true, false}) {
    for (std::size_t at = 0; at < good.size(); at += 64) {
      std::vector<std::byte> bytes = good;
      const std::size_t end = std::min(at + 512, bytes.size());
      for (std::size_t i = at; i < end; ++i) bytes[i] = zeros ? std::byte{0} : static_cast<std::byte>(i * 167 + at);
      const auto& path = bad.set(bytes);
      CAPTURE(at);
      CHECK(damage_is_noticed(path));
      read_all(path);
    }
  }
}

TEST_CASE("damage to metadata is reported where it is") {
  const TempDir dir;
  std::vector<std::byte> bytes = sound_file(dir, {});
  constexpr std::size_t kRootHeader = 48;
  bytes[kRootHeader + 20] ^= std::byte{1};
  write_file(dir / "bad.h5", bytes);
  const VerifyReport report = verify(dir / "bad.h5", {});
  REQUIRE(report.damage.size() == 1);
  CHECK(report.damage[0].file == (dir / "bad.h5").string());
  CHECK(report.damage[0].offset == kRootHeader);
  CHECK(report.damage[0].what.find("checksum") != std::string::npos);
}

TEST_CASE("the checksum of HDF5 metadata is the one that libhdf5 computes") {
  // Known values of hashlittle with initial value 0; every superblock that opens is another.
  CHECK(hdf5::metadata_checksum({}) == 0xdeadbeef);
  CHECK(hdf5::metadata_checksum(as_bytes("Four score and seven years ago")) == 0x17770551);
}
