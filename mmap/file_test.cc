#include "mmap/file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "imgpack/error.h"
#include "mmap/append_file.h"
#include "tests/support/files.h"
#include "tests/support/thrown.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace fs = std::filesystem;

namespace {

using Bytes = std::vector<std::byte>;

Bytes noise(std::size_t size, std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

Bytes content(const File& file) {
  Bytes bytes(file.size());
  file.read_at(0, bytes);
  return bytes;
}

/// The Error that `action` throws; its absence fails the test.

bool is_open(int descriptor) {
  return ::fcntl(descriptor, F_GETFD) >= 0;
}

bool closes_on_exec(const File& file) {
  return (::fcntl(file.descriptor(), F_GETFD) & FD_CLOEXEC) != 0;
}

/// Runs `child` in a process of its own; what it returns is the exit status.
int exit_status_of(const std::function<int()>& child) {
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    int status = 99;
    try {
      status = child();
    } catch (...) {
    }
    ::_exit(status);
  }
  int status = 0;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("what is written is read back, in whole transfers") {
  const TempDir dir;
  File file = File::open(dir / "data", File::Mode::create);
  const Bytes bytes = noise(3 << 20);
  file.write_at(0, std::span<const std::byte>(bytes));
  CHECK(file.size() == bytes.size());
  CHECK(content(file) == bytes);

  Bytes part(1000);
  file.read_at(12345, part);
  CHECK(std::equal(part.begin(), part.end(), bytes.begin() + 12345));
  file.write_at(7, std::span<const std::byte>(part));
  file.read_at(7, part);
  CHECK(std::equal(part.begin(), part.end(), bytes.begin() + 12345));
}

TEST_CASE("a read at the end of the file gives what there is") {
  const TempDir dir;
  write_file(dir / "data", "0123456789");
  const File file = File::open(dir / "data", File::Mode::read);
  Bytes out(8);
  CHECK(file.read_some_at(0, out) == 8);
  CHECK(file.read_some_at(6, out) == 4);
  CHECK(as_text(std::span(out).first(4)) == "6789");
  CHECK(file.read_some_at(10, out) == 0);
  CHECK(file.read_some_at(1 << 20, out) == 0);
}

TEST_CASE("many parts are written one after the other") {
  const TempDir dir;
  for (const std::size_t count : {0, 1, 2, 63, 64, 65, 200}) {
    CAPTURE(count);
    File file = File::open(dir / "data", File::Mode::create);
    std::vector<Bytes> parts;
    Bytes expected = noise(5, 99);
    for (std::size_t i = 0; i < count; ++i) {
      parts.push_back(noise(i * 37 % 501, static_cast<std::uint32_t>(i)));  // the first one is empty
      expected.insert(expected.end(), parts.back().begin(), parts.back().end());
    }
    file.write_at(0, std::span<const std::byte>(expected).first(5));
    const std::vector<std::span<const std::byte>> views(parts.begin(), parts.end());
    file.write_at(5, views);
    CHECK(content(file) == expected);
  }
}

TEST_CASE("modes: what has to exist, and what is kept") {
  const TempDir dir;
  CHECK(error_of([&] { File::open(dir / "none", File::Mode::read); }).code() == ErrorCode::not_found);
  CHECK(error_of([&] { File::open(dir / "none", File::Mode::read_write); }).code() == ErrorCode::not_found);
  CHECK_FALSE(fs::exists(dir / "none"));
  File::open(dir / "none", File::Mode::open_or_create);
  CHECK(fs::exists(dir / "none"));

  write_file(dir / "data", "content");
  CHECK(File::open(dir / "data", File::Mode::open_or_create).size() == 7);
  CHECK(File::open(dir / "data", File::Mode::read_write).size() == 7);
  CHECK(File::open(dir / "data", File::Mode::create).size() == 0);
}

TEST_CASE("errors name the file and the place") {
  const TempDir dir;
  const Error missing = error_of([&] { File::open(dir / "none", File::Mode::read); });
  CHECK(missing.place().file == (dir / "none").string());
  CHECK(std::string_view(missing.what()).starts_with((dir / "none").string()));

  write_file(dir / "short", "0123456789");
  const File file = File::open(dir / "short", File::Mode::read);
  Bytes out(8);
  const Error early = error_of([&] { file.read_at(6, out); });
  CHECK(early.code() == ErrorCode::damaged);
  CHECK(early.place().file == (dir / "short").string());
  CHECK(early.place().offset == 10);

  File read_only = File::open(dir / "short", File::Mode::read);
  const Error refused = error_of([&] { read_only.write_at(3, std::span<const std::byte>(out)); });
  CHECK(refused.code() == ErrorCode::io);
  CHECK(refused.place().offset == 3);

  const Error folder = error_of([&] { File::open(dir.path(), File::Mode::create); });
  CHECK(folder.code() == ErrorCode::io);
  CHECK(folder.place().file == dir.path().string());
}

TEST_CASE("a full disk is an io error that says so") {
  File full = File::open("/dev/full", File::Mode::read_write);
  const Bytes bytes(100);
  const Error one = error_of([&] { full.write_at(0, std::span<const std::byte>(bytes)); });
  CHECK(one.code() == ErrorCode::io);
  CHECK(one.place().file == "/dev/full");
  CHECK(one.message() == "cannot write: No space left on device");
  const std::vector<std::span<const std::byte>> parts = {bytes, bytes};
  CHECK(error_of([&] { full.write_at(0, parts); }).message() == "cannot write: No space left on device");
}

TEST_CASE("a write that is cut short by a limit goes on and then fails where the limit is") {
  const TempDir dir;
  enum Result { kOk = 0, kWrongCode = 1, kWrongOffset = 2, kNoError = 3 };
  const auto write_beyond_limit = [&](bool in_parts) {
    return exit_status_of([&]() -> int {
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit = {10'000, 10'000};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      File file = File::open(dir / "limited", File::Mode::create);
      const Bytes bytes = noise(6'000);
      const std::vector<std::span<const std::byte>> parts = {bytes, bytes, bytes};
      try {
        if (in_parts) {
          file.write_at(0, parts);
        } else {
          for (std::uint64_t i = 0; i < 3; ++i) file.write_at(i * bytes.size(), parts[i]);
        }
      } catch (const Error& error) {
        if (error.code() != ErrorCode::io) return kWrongCode;
        return error.place().offset == 10'000 ? kOk : kWrongOffset;
      }
      return kNoError;
    });
  };
  for (const bool in_parts : {false, true}) {
    CAPTURE(in_parts);
    CHECK(write_beyond_limit(in_parts) == kOk);
    Bytes expected = noise(6'000);
    expected.insert(expected.end(), expected.begin(), expected.begin() + 4'000);
    CHECK(read_file(dir / "limited") == expected);
  }
}

TEST_CASE("a temporary file has no name and vanishes") {
  const TempDir dir;
  File file = File::temporary(dir.path());
  CHECK(fs::is_empty(dir.path()));
  const Bytes bytes = noise(5000);
  file.write_at(0, std::span<const std::byte>(bytes));
  CHECK(content(file) == bytes);
  file.close();
  CHECK(fs::is_empty(dir.path()));
  CHECK(error_of([&] { File::temporary(dir / "none"); }).code() == ErrorCode::not_found);
}

TEST_CASE("descriptors are owned once and are not inherited by other programs") {
  const TempDir dir;
  File first = File::open(dir / "first", File::Mode::create);
  File second = File::open(dir / "second", File::Mode::create);
  CHECK(closes_on_exec(first));
  CHECK(closes_on_exec(File::temporary(dir.path())));
  const int first_descriptor = first.descriptor();
  const int second_descriptor = second.descriptor();
  first = std::move(second);
  CHECK_FALSE(is_open(first_descriptor));
  CHECK(first.descriptor() == second_descriptor);
  CHECK(first.path() == dir / "second");
  CHECK_FALSE(second.is_open());  // NOLINT: a moved-from file is closed
  {
    const File third = std::move(first);
    CHECK(is_open(second_descriptor));
  }
  CHECK_FALSE(is_open(second_descriptor));
}

TEST_CASE("truncate, sync and close") {
  const TempDir dir;
  File file = File::open(dir / "data", File::Mode::create);
  file.write_at(0, as_bytes("0123456789"));
  file.truncate(4);
  CHECK(file.size() == 4);
  file.truncate(6);
  CHECK(as_text(content(file)) == std::string_view("0123\0\0", 6));
  file.start_writeback(0, 6);
  file.sync();
  file.drop_cache(0, 6);
  CHECK(as_text(content(file)) == std::string_view("0123\0\0", 6));
  file.close();
  CHECK_FALSE(file.is_open());
  file.close();  // a second time does nothing
}

TEST_CASE("ranges are copied between files, also across file systems") {
  const TempDir dir;
  const Bytes bytes = noise(3'000'000);
  write_file(dir / "from", bytes);
  const File from = File::open(dir / "from", File::Mode::read);
  const auto check_copy = [&](File to) {
    to.write_at(0, as_bytes("head"));
    copy_range(from, 1'000'001, 1'500'003, to, 4);
    copy_range(from, 0, 0, to, 1'000'000'000);
    REQUIRE(to.size() == 4 + 1'500'003);
    const Bytes copied = content(to);
    CHECK(as_text(std::span(copied).first(4)) == "head");
    CHECK(std::equal(copied.begin() + 4, copied.end(), bytes.begin() + 1'000'001));
  };
  check_copy(File::open(dir / "to", File::Mode::create));
  if (fs::is_directory("/dev/shm")) {
    check_copy(File::temporary("/dev/shm"));
  } else {
    MESSAGE("no /dev/shm: nothing was copied across file systems");
  }

  File to = File::open(dir / "to", File::Mode::create);
  const Error early = error_of([&] { copy_range(from, 2'999'990, 11, to, 0); });
  CHECK(early.code() == ErrorCode::damaged);
  CHECK(early.place().file == (dir / "from").string());
}

TEST_CASE("appended pieces follow each other whatever their sizes") {
  const TempDir dir;
  for (const std::size_t buffer_size : {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{4096}}) {
    CAPTURE(buffer_size);
    File file = File::open(dir / "log", File::Mode::create);
    AppendFile log(file, 0, buffer_size);
    std::mt19937 random(7);
    Bytes expected;
    for (int i = 0; i < 500; ++i) {
      if (random() % 10 == 0) {
        const std::uint64_t alignment = std::uint64_t{1} << random() % 10;
        log.pad_to(alignment);
        expected.resize((expected.size() + alignment - 1) / alignment * alignment);
      } else {
        const std::size_t limit = random() % 4 == 0 ? 10'000 : 40;
        const Bytes piece = noise(random() % limit, static_cast<std::uint32_t>(i));
        log.append(piece);
        expected.insert(expected.end(), piece.begin(), piece.end());
      }
      if (random() % 50 == 0) log.flush();
      REQUIRE(log.position() == expected.size());
      REQUIRE(log.flushed() <= log.position());
      REQUIRE(log.position() - log.flushed() <= buffer_size);
      REQUIRE(file.size() == log.flushed());
    }
    log.flush();
    CHECK(log.flushed() == expected.size());
    CHECK(content(file) == expected);
  }
}

TEST_CASE("small pieces wait in the buffer, large ones do not") {
  const TempDir dir;
  File file = File::open(dir / "log", File::Mode::create);
  AppendFile log(file, 0, 1000);
  log.append(noise(400));
  CHECK(file.size() == 0);
  log.append(noise(5000));
  CHECK(file.size() == 5400);
  CHECK(log.flushed() == 5400);
}

TEST_CASE("appending goes on at an offset and cuts off what lies behind") {
  const TempDir dir;
  write_file(dir / "log", "kept|lost in a crash");
  File file = File::open(dir / "log", File::Mode::read_write);
  AppendFile log(file, 5);
  CHECK(log.position() == 5);
  CHECK(file.size() == 5);
  log.append(as_bytes("new"));
  log.pad_to(16);
  log.pad_to(16);
  log.flush();
  CHECK(as_text(read_file(dir / "log")) == std::string_view("kept|new\0\0\0\0\0\0\0\0", 16));
}

TEST_CASE("a failed append names the file") {
  enum Result { kOk = 0, kWrong = 1, kNoError = 2 };
  const TempDir dir;
  const int status = exit_status_of([&]() -> int {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {100, 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    File file = File::open(dir / "log", File::Mode::create);
    AppendFile log(file, 0, 64);
    try {
      for (int i = 0; i < 100; ++i) log.append(as_bytes("0123456789"));
    } catch (const Error& error) {
      return error.code() == ErrorCode::io && error.place().file == (dir / "log").string() ? kOk : kWrong;
    }
    return kNoError;
  });
  CHECK(status == kOk);
}
