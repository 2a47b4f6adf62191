#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "formats/hdf5/hdf5_format.h"
#include "formats/hdf5/layout.h"
#include "formats/hdf5/test_dataset.h"
#include "imgpack/error.h"
#include "mmap/file.h"
#include "tests/support/damage.h"
#include "tests/support/files.h"

namespace imgpack {

namespace {

using namespace imgpack::testing;

class FirstFinding : public DamageSink {
 public:
  bool report(Damage damage) override {
    what = damage.what;
    return false;
  }
  std::string what;
};

/// What is wrong with the file, as `verify` would find out; empty if it seems whole.
std::string find_damage(const std::filesystem::path& path) {
  try {
    const auto store = open_hdf5(path);
    FirstFinding finding;
    store->check_container(finding);
    if (!finding.what.empty()) return finding.what;
    for (std::uint64_t i = 0; i < store->size(); ++i) {
      const RecordBytes bytes = store->bytes(i);
      store->key(i);
      store->find(store->key(i));
      for (std::size_t f = 0; f < store->info().fields.size(); ++f) store->field(i, f);
      if (record_checksum(bytes.payload, bytes.segments) != store->meta(i).checksum) return "checksum";
    }
  } catch (const Error& error) {
    CHECK((error.code() == ErrorCode::damaged || error.code() == ErrorCode::unsupported));
    return error.what();
  }
  return "";
}

/// A file whose content changes in place: thousands of truncations would make the file system wait for the disk.
class ChangingFile {
 public:
  explicit ChangingFile(std::filesystem::path path) : file_(File::open(path, File::Mode::create)) {}
  const std::filesystem::path& set(std::span<const std::byte> bytes) {
    file_.write_at(0, bytes);
    if (file_.size() != bytes.size()) file_.truncate(bytes.size());
    return file_.path();
  }

 private:
  File file_;
};

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
    CHECK((error.code() == ErrorCode::damaged || error.code() == ErrorCode::unsupported));
  }
}

std::vector<std::byte> small_file(const TempDir& dir, const TestOptions& options) {
  write_hdf5(dir / "good.h5", make_dataset(options));
  REQUIRE(find_damage(dir / "good.h5") == "");
  return read_file(dir / "good.h5");
}

}  // namespace

TEST_CASE("every changed byte is found") {
  const TempDir dir;
  ChangingFile bad(dir / "bad.h5");
  for (const TestOptions& options :
       {TestOptions{.records = 3, .payload_size = 20},
        TestOptions{.records = 5, .fields = true, .segments = true, .payload_size = 20}, TestOptions{.records = 0}}) {
    const std::vector<std::byte> good = small_file(dir, options);
    for_each_flip(good, 1, [&](std::span<const std::byte> bytes, std::size_t offset) {
      const auto& path = bad.set(bytes);
      CAPTURE(offset);
      CHECK(find_damage(path) != "");
      read_all(path);
    });
  }
}

TEST_CASE("every cut is found") {
  const TempDir dir;
  ChangingFile bad(dir / "bad.h5");
  const std::vector<std::byte> good = small_file(dir, {.records = 5, .fields = true, .segments = true, .payload_size = 20});
  for_each_cut(good, 1, [&](std::span<const std::byte> bytes) {
    CAPTURE(bytes.size());
    CHECK(find_damage(bad.set(bytes)) != "");
  });
}

TEST_CASE("bytes behind the end are found") {
  const TempDir dir;
  std::vector<std::byte> bytes = small_file(dir, {});
  bytes.push_back(std::byte{0});
  write_file(dir / "bad.h5", bytes);
  CHECK(find_damage(dir / "bad.h5") != "");
}

TEST_CASE("whole stretches of zeros or noise are found") {
  const TempDir dir;
  ChangingFile bad(dir / "bad.h5");
  const std::vector<std::byte> good = small_file(dir, {.records = 40, .fields = true, .segments = true, .payload_size = 50});
  for (const bool zeros : {true, false}) {
    for (std::size_t at = 0; at < good.size(); at += 64) {
      std::vector<std::byte> bytes = good;
      const std::size_t end = std::min(at + 512, bytes.size());
      for (std::size_t i = at; i < end; ++i) bytes[i] = zeros ? std::byte{0} : std::byte(i * 167 + at);
      const auto& path = bad.set(bytes);
      CAPTURE(at);
      CHECK(find_damage(path) != "");
      read_all(path);
    }
  }
}

TEST_CASE("the message carries what libhdf5 has to say") {
  const TempDir dir;
  std::vector<std::byte> bytes = small_file(dir, {});
  bytes[hdf5::kSuperblockSize + 20] ^= std::byte{1};
  write_file(dir / "bad.h5", bytes);
  const std::string damage = find_damage(dir / "bad.h5");
  CHECK(damage.find((dir / "bad.h5").string()) != std::string::npos);
  CHECK(damage.find("checksum") != std::string::npos);
}

}  // namespace imgpack
