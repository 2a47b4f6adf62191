#include "mmap/mapped_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <linux/magic.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "imgpack/error.h"
#include "mmap/page_cache.h"
#include "mmap/unbuffered_file.h"
#include "tests/support/files.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace fs = std::filesystem;

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

Bytes noise(std::size_t size) {
  std::mt19937 random(3);
  Bytes bytes(size);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

bool equal(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool is_tmpfs(const fs::path& path) {
  struct statfs status {};
  REQUIRE(::statfs(path.c_str(), &status) == 0);
  return status.f_type == TMPFS_MAGIC;
}

/// KiB of the mapping at `address` that are mapped into this process.
std::optional<std::uint64_t> resident_kib(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::uint64_t kib = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2) {
      inside = begin <= wanted && wanted < end;
    } else if (inside && std::sscanf(line.c_str(), "Rss: %" SCNu64, &kib) == 1) {
      return kib;
    }
  }
  return std::nullopt;
}

/// Sums all bytes, so that every page is touched.
std::uint64_t touch(std::span<const std::byte> bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0},
                         [](std::uint64_t sum, std::byte b) { return sum + std::to_integer<std::uint64_t>(b); });
}

}  // namespace

TEST_CASE("a mapping shows the whole file") {
  const TempDir dir;
  const Bytes bytes = noise(100'001);
  write_file(dir / "data", bytes);
  for (const Access access : {Access::normal, Access::sequential, Access::random}) {
    const MappedFile file = MappedFile::open(dir / "data", access);
    CHECK(file.size() == bytes.size());
    CHECK(file.path() == dir / "data");
    CHECK(equal(file.bytes(), bytes));
    file.advise(Access::normal);
    CHECK(equal(file.bytes(), bytes));
  }
}

TEST_CASE("an empty file maps to an empty span") {
  const TempDir dir;
  write_file(dir / "empty", "");
  const MappedFile file = MappedFile::open(dir / "empty", Access::random);
  CHECK(file.bytes().empty());
  CHECK(file.size() == 0);
  file.advise(Access::sequential);
  file.prefetch(0, 10);
  file.populate(0, kHuge);
  file.release(0, 10);
}

TEST_CASE("files that cannot be mapped say why") {
  const TempDir dir;
  try {
    MappedFile::open(dir / "none");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::not_found);
    CHECK(error.place().file == (dir / "none").string());
  }
  CHECK_THROWS_AS(MappedFile::open(dir.path()), Error);
}

TEST_CASE("a mapping outlives the descriptor and the name") {
  const TempDir dir;
  const Bytes bytes = noise(10'000);
  MappedFile mapped;
  {
    File file = File::temporary(dir.path());
    file.write_at(0, std::span<const std::byte>(bytes));
    mapped = MappedFile::map(file);
  }
  CHECK(equal(mapped.bytes(), bytes));
  const MappedFile moved = std::move(mapped);
  CHECK(equal(moved.bytes(), bytes));
  CHECK(mapped.bytes().empty());  // NOLINT: a moved-from mapping is empty
}

TEST_CASE("ranges are clipped to the file") {
  const TempDir dir;
  const Bytes bytes = noise(50'000);
  write_file(dir / "data", bytes);
  const MappedFile file = MappedFile::open(dir / "data");
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4095}, std::uint64_t{4096},
                                     std::uint64_t{49'999}, std::uint64_t{50'000}, std::uint64_t{53'000}, kHuge}) {
    for (const std::uint64_t size :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4096}, std::uint64_t{50'000}, kHuge}) {
      file.prefetch(offset, size);
      file.populate(offset, size);
      file.release(offset, size);
    }
  }
  CHECK(equal(file.bytes(), bytes));
}

TEST_CASE("released pages leave the process and can be read again") {
  const TempDir dir;
  const Bytes bytes = noise(4 << 20);
  write_file(dir / "data", bytes);
  const MappedFile file = MappedFile::open(dir / "data");
  file.populate(0, file.size());
  const auto populated = resident_kib(file.bytes().data());
  REQUIRE(populated.has_value());
  CHECK(*populated == 4096);
  file.release(100, 2 << 20);
  const auto released = resident_kib(file.bytes().data());
  REQUIRE(released.has_value());
  CHECK(*released < 3072);
  CHECK(*released >= 2048);
  file.release(0, kHuge);
  CHECK(resident_kib(file.bytes().data()) == 0);
  CHECK(equal(file.bytes(), bytes));
}

TEST_CASE("a walk with release behind keeps the resident set small") {
  const TempDir dir;
  const Bytes bytes = noise(24 << 20);
  write_file(dir / "data", bytes);
  const MappedFile file = MappedFile::open(dir / "data", Access::sequential);
  ReleaseBehind walk(file, 1 << 20);
  constexpr std::size_t kStep = 300'000;
  std::uint64_t sum = 0;
  std::uint64_t most = 0;
  for (std::size_t at = 0; at < bytes.size(); at += kStep) {
    sum += touch(file.bytes().subspan(at, std::min(kStep, bytes.size() - at)));
    walk.advance(at);
    most = std::max(most, resident_kib(file.bytes().data()).value());
  }
  CHECK(sum == touch(bytes));
  CHECK(most <= 8 << 10);  // window, step, and what the kernel maps around a fault
}

TEST_CASE("a mapping works on in a child process") {
  const TempDir dir;
  const Bytes bytes = noise(200'000);
  write_file(dir / "data", bytes);
  const MappedFile file = MappedFile::open(dir / "data");
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    file.release(0, kHuge);
    ::_exit(equal(file.bytes(), bytes) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("the page cache can be asked and emptied") {
  const TempDir dir;
  const Bytes bytes = noise((3 << 20) + 17);
  write_file(dir / "data", bytes);
  CHECK(touch(read_file(dir / "data")) == touch(bytes));
  const Residency before = page_cache_residency(dir / "data");
  CHECK(before.total_bytes == bytes.size());
  CHECK(before.resident_bytes == bytes.size());
  evict_from_page_cache(dir / "data");
  const Residency after = page_cache_residency(dir / "data");
  CHECK(after.total_bytes == bytes.size());
  if (is_tmpfs(dir.path())) {
    MESSAGE("the temporary folder lies in memory: nothing can be evicted");
    CHECK(after.resident_bytes == bytes.size());
  } else {
    CHECK(after.resident_bytes == 0);
  }
  CHECK(read_file(dir / "data") == bytes);

  write_file(dir / "empty", "");
  evict_from_page_cache(dir / "empty");
  CHECK(page_cache_residency(dir / "empty").total_bytes == 0);
  CHECK_THROWS_AS(page_cache_residency(dir / "none"), Error);
  CHECK_THROWS_AS(evict_from_page_cache(dir / "none"), Error);
}

TEST_CASE("advice about an empty range leaves the page cache alone") {
  const TempDir dir;
  write_file(dir / "data", noise(1 << 20));
  evict_from_page_cache(dir / "data");
  read_file(dir / "data");
  File file = File::open(dir / "data", File::Mode::read_write);
  file.drop_cache(4096, 0);
  CHECK(page_cache_residency(dir / "data").resident_bytes == 1 << 20);
}

namespace {

void check_unbuffered_reads(const fs::path& path, const Bytes& bytes) {
  const UnbufferedFile file = UnbufferedFile::open(path);
  CHECK(file.size() == bytes.size());
  const std::uint64_t end = bytes.size();
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{511}, std::uint64_t{4096},
                                     std::uint64_t{12'345}, end - 5000, end - 4096, end - 1, end}) {
    for (const std::uint64_t size :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4096}, std::uint64_t{70'000}, end - offset}) {
      if (size > end - offset) continue;
      CAPTURE(offset);
      CAPTURE(size);
      AlignedBuffer buffer(file.buffer_size(size), file.alignment());
      const auto got = file.read(offset, size, buffer);
      CHECK(equal(got, std::span(bytes).subspan(offset, size)));
    }
  }
  AlignedBuffer buffer(file.buffer_size(100), file.alignment());
  for (const auto& [offset, size] : {std::pair{end - 99, std::uint64_t{100}}, {end + 1, 0}, {kHuge, 1}, {1, kHuge}}) {
    try {
      file.read(offset, size, buffer);
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::damaged);
      CHECK(error.place().file == path.string());
    }
  }
  try {
    file.read(0, 10'000, buffer);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
  }
}

}  // namespace

TEST_CASE("unbuffered reads equal ordinary ones, at odd offsets and at the end") {
  const TempDir dir;
  const Bytes bytes = noise(300'007);
  write_file(dir / "data", bytes);
  check_unbuffered_reads(dir / "data", bytes);
}

TEST_CASE("unbuffered reads work on file systems that have no way around the cache") {
  if (!fs::is_directory("/dev/shm")) {
    MESSAGE("no /dev/shm: the fallback was not tested");
    return;
  }
  const Bytes bytes = noise(300'007);
  const fs::path path = fs::path("/dev/shm") / ("imgpack-test-" + std::to_string(::getpid()));
  write_file(path, bytes);
  check_unbuffered_reads(path, bytes);
  fs::remove(path);
}

TEST_CASE("unbuffered reads leave the page cache empty") {
  const TempDir dir;
  const Bytes bytes = noise(300'007);
  write_file(dir / "data", bytes);
  evict_from_page_cache(dir / "data");
  const UnbufferedFile file = UnbufferedFile::open(dir / "data");
  AlignedBuffer buffer(file.buffer_size(file.size()), file.alignment());
  CHECK(equal(file.read(0, file.size(), buffer), bytes));
  if (file.direct() && !is_tmpfs(dir.path())) {
    CHECK(page_cache_residency(dir / "data").resident_bytes == 0);
  } else {
    MESSAGE("the temporary folder's file system always uses the page cache");
  }
}

TEST_CASE("a missing file and an impossible buffer are refused") {
  const TempDir dir;
  try {
    UnbufferedFile::open(dir / "none");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::not_found);
  }
  write_file(dir / "data", "content");
  const UnbufferedFile file = UnbufferedFile::open(dir / "data");
  CHECK_THROWS_AS(AlignedBuffer(file.buffer_size(kHuge - 5), file.alignment()), std::bad_alloc);
  AlignedBuffer buffer(file.buffer_size(7), file.alignment());
  const AlignedBuffer moved = std::move(buffer);
  CHECK(moved.bytes().size() >= 7);
  CHECK(buffer.bytes().empty());  // NOLINT: a moved-from buffer is empty
}
