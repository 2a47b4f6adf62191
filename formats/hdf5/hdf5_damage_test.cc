#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <hdf5.h>

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
  write_dataset(dir / "good.h5", make_dataset(options),
                {.format = Format::hdf5, .overwrite = true, .raw_shape = options.raw_shape});
  REQUIRE(verify(dir / "good.h5", {}).damage_count == 0);
  return read_file(dir / "good.h5");
}

/// Takes the dataset `images` out of the file and makes another one, unless it has no dimensions.
void replace_images(const std::filesystem::path& path, const std::vector<hsize_t>& dimensions, hid_t type) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, access);
  CHECK(H5Ldelete(file, "images", H5P_DEFAULT) >= 0);
  if (!dimensions.empty()) {
    const hid_t space = H5Screate_simple(static_cast<int>(dimensions.size()), dimensions.data(), nullptr);
    const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY);
    H5Dclose(H5Dcreate2(file, "images", type, space, H5P_DEFAULT, layout, H5P_DEFAULT));
    H5Pclose(layout);
    H5Sclose(space);
  }
  H5Fclose(file);
  H5Pclose(access);
}

}  // namespace

TEST_CASE("every changed byte of an HDF5 file is found") {
  const TempDir dir;
  ChangingFile bad(dir / "bad.h5");
  for (const TestDatasetOptions& options :
       {TestDatasetOptions{.records = 3, .payload_size = 20},
        TestDatasetOptions{.records = 5, .payload_size = 20, .segments = true, .fields = true},
        TestDatasetOptions{.records = 0}, TestDatasetOptions{.records = 5, .fields = true, .raw_shape = RawShape{2, 3}},
        TestDatasetOptions{.records = 0, .raw_shape = RawShape{2, 3}}}) {
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
  for (const TestDatasetOptions& options :
       {TestDatasetOptions{.records = 5, .payload_size = 20, .segments = true, .fields = true},
        TestDatasetOptions{.records = 5, .raw_shape = RawShape{2, 3}}}) {
    for_each_cut(sound_file(dir, options), 1, [&](std::span<const std::byte> bytes) {
      CAPTURE(bytes.size());
      CHECK(damage_is_noticed(bad.set(bytes)));
    });
  }
}

TEST_CASE("an array of images that another program put in the place of ours is found") {
  const TempDir dir;
  const auto good = sound_file(dir, {.records = 4, .raw_shape = RawShape{2, 3}});
  /// What verify says when the array has these dimensions; when it is gone, if there are none.
  const auto findings = [&](std::vector<hsize_t> dimensions, hid_t type) {
    write_file(dir / "bad.h5", good);
    replace_images(dir / "bad.h5", dimensions, type);
    std::string all;
    for (const Damage& damage : verify(dir / "bad.h5", {}).damage) all += damage.what + '\n';
    return all;
  };
  const auto contains = [](std::string_view text, std::string_view part) {
    CAPTURE(text);
    return text.find(part) != std::string_view::npos;
  };
  CHECK(contains(findings({}, H5T_STD_U8LE), "'encoded' is missing"));
  CHECK(contains(findings({4, 2, 3, 3}, H5T_STD_I8LE), "'images' has another type"));
  for (const std::vector<hsize_t>& dimensions : {std::vector<hsize_t>{4, 2, 9}, {4, 2, 3, 4}, {4, 65'536, 1, 3}}) {
    CHECK(contains(findings(dimensions, H5T_STD_U8LE), "'images' has another shape"));
  }
  CHECK(contains(findings({5, 2, 3, 3}, H5T_STD_U8LE), "5 images where there are 4 records"));
  CHECK(contains(findings({0, 2, 3, 3}, H5T_STD_U8LE), "0 images where there are 4 records"));
  CHECK(contains(findings({4, 3, 2, 3}, H5T_STD_U8LE), "its size or codec is not that of the dataset 'images'"));
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
