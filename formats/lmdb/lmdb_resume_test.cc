#include <algorithm>
#include <csignal>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/lmdb/sample_data.h"
#include "imgpack/error.h"
#include "tests/support/files.h"

namespace imgpack::testing {

namespace {

/// Tiny payloads inside pages, ones of a page that go where pages became free, and large ones; several transactions
/// long.
Sample mixed_sample() {
  return plain_sample(20000, [](std::uint64_t i) {
    return i % 500 == 0 ? std::size_t{300000} : i % 7 == 0 ? std::size_t{2100 + i % 1900} : std::size_t{i % 200};
  });
}

void expect_resumes(const std::filesystem::path& path, const Sample& sample, const std::vector<std::byte>& expected) {
  const auto writer = create_writer(path, sample, true);
  append_until(*writer, sample, sample.records.size());
  writer->finish();
  CHECK(read_file(path) == expected);
}

/// Runs `body` in a child process, which must not leave it by an exception: that would clean up the parent's files.
template <typename Body>
pid_t start_child(Body&& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  try {
    body();
  } catch (...) {
    ::_exit(100);
  }
  ::_exit(0);
}

/// Returns the wait status.
template <typename Body>
int in_child(Body&& body) {
  const pid_t child = start_child(body);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

/// Kills a build `delay` microseconds after it began to write the index.
void kill_while_sealing(const std::filesystem::path& path, const Sample& sample, useconds_t delay) {
  int pipe_ends[2];
  REQUIRE(::pipe(pipe_ends) == 0);
  const pid_t child = start_child([&] {
    const auto writer = create_writer(path, sample);
    append_until(*writer, sample, sample.records.size());
    if (::write(pipe_ends[1], "", 1) != 1) ::_exit(101);
    writer->seal();
    ::pause();
  });
  REQUIRE(child > 0);
  char ready;
  REQUIRE(::read(pipe_ends[0], &ready, 1) == 1);
  ::usleep(delay);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

}  // namespace

TEST_CASE("a build that goes on after an interruption gives the same bytes") {
  const TempDir dir;
  const Sample sample = mixed_sample();
  write_sample(dir / "whole.lmdb", sample);
  const std::vector<std::byte> whole = read_file(dir / "whole.lmdb");

  write_sample(dir / "again.lmdb", sample);
  CHECK(read_file(dir / "again.lmdb") == whole);

  for (const std::uint64_t stop : {0u, 5u, 8191u, 8192u, 8193u, 12000u, 19999u, 20000u}) {
    CAPTURE(stop);
    append_until(*create_writer(dir / "out.lmdb", sample), sample, stop);
    CHECK_FALSE(std::filesystem::exists(dir / "out.lmdb"));
    auto writer = create_writer(dir / "out.lmdb", sample, true);
    CHECK(writer->records() <= stop);
    if (stop > 8192) CHECK(writer->records() > 0);
    append_until(*writer, sample, std::min<std::uint64_t>(stop + 9000, sample.records.size()));
    writer.reset();  // interrupted once more
    expect_resumes(dir / "out.lmdb", sample, whole);
    std::filesystem::remove(dir / "out.lmdb");
  }
}

TEST_CASE("a build that is killed before its log reached the disk goes back one snapshot") {
  const TempDir dir;
  const Sample sample = plain_sample(90, [](std::uint64_t) { return 900'000; });
  write_sample(dir / "whole.lmdb", sample);
  const std::vector<std::byte> whole = read_file(dir / "whole.lmdb");
  const int status = in_child([&] {
    const auto writer = create_writer(dir / "out.lmdb", sample);
    append_until(*writer, sample, 75);  // committed: 74, in the log: 70
    ::kill(::getpid(), SIGKILL);
  });
  REQUIRE(WIFSIGNALED(status));
  {
    const auto writer = create_writer(dir / "out.lmdb", sample, true);
    CHECK(writer->records() == 37);
  }
  expect_resumes(dir / "out.lmdb", sample, whole);
}

TEST_CASE("a build that is killed while it writes the index gives the same bytes when it goes on") {
  const TempDir dir;
  const Sample sample = mixed_sample();
  write_sample(dir / "whole.lmdb", sample);
  const std::vector<std::byte> whole = read_file(dir / "whole.lmdb");
  for (const useconds_t delay : {0u, 2000u, 5000u, 10000u, 20000u, 40000u, 80000u, 160000u}) {
    CAPTURE(delay);
    kill_while_sealing(dir / "out.lmdb", sample, delay);
    const auto writer = create_writer(dir / "out.lmdb", sample, true);
    if (!writer->sealed()) append_until(*writer, sample, sample.records.size());
    writer->finish();
    CHECK(read_file(dir / "out.lmdb") == whole);
    std::filesystem::remove(dir / "out.lmdb");
  }
}

TEST_CASE("a damaged rest of an interrupted build is not built upon") {
  const TempDir dir;
  const Sample sample = mixed_sample();
  write_sample(dir / "whole.lmdb", sample);
  const std::vector<std::byte> whole = read_file(dir / "whole.lmdb");
  const auto interrupt_and = [&](auto&& damage) {
    append_until(*create_writer(dir / "out.lmdb", sample), sample, 17000);
    std::vector<std::byte> partial = read_file(dir / "out.lmdb.partial");
    damage(partial);
    write_file(dir / "out.lmdb.partial", partial);
    expect_resumes(dir / "out.lmdb", sample, whole);
    std::filesystem::remove(dir / "out.lmdb");
  };
  interrupt_and([](std::vector<std::byte>& file) { file[file.size() / 2] ^= std::byte{1}; });
  interrupt_and([](std::vector<std::byte>& file) { file.resize(file.size() / 2); });
  interrupt_and([](std::vector<std::byte>& file) { std::fill_n(file.begin(), 8192, std::byte{0}); });
  interrupt_and([](std::vector<std::byte>& file) { file.clear(); });
}

TEST_CASE("a file size limit ends in an error that names file and reason, and the build can go on") {
  const TempDir dir;
  const Sample sample = plain_sample(60, [](std::uint64_t) { return 900'000; });
  write_sample(dir / "whole.lmdb", sample);
  const std::vector<std::byte> whole = read_file(dir / "whole.lmdb");
  const int status = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 40u << 20, .rlim_max = 40u << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      const auto writer = create_writer(dir / "out.lmdb", sample);
      append_until(*writer, sample, sample.records.size());
      writer->finish();
    } catch (const Error& error) {
      const bool good = error.code() == ErrorCode::io && error.place().file == (dir / "out.lmdb.partial").string() &&
                        error.message().find("File too large") != std::string::npos;
      ::_exit(good ? 3 : 4);
    }
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
  CHECK_FALSE(std::filesystem::exists(dir / "out.lmdb"));
  expect_resumes(dir / "out.lmdb", sample, whole);
}

}  // namespace imgpack::testing
