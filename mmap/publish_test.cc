#include "mmap/publish.h"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "imgpack/error.h"
#include "tests/support/files.h"
#include "tests/support/thrown.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace fs = std::filesystem;

namespace {

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

/// A child process that tells when it has come so far, and is killed if nobody waits for it.
class Child {
 public:
  /// `body` gets a function that tells the parent to go on; its result is the exit status.
  explicit Child(const std::function<int(const std::function<void()>&)>& body) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      int status = 99;
      try {
        status = body([&] { static_cast<void>(!::write(ends[1], "x", 1)); });
      } catch (...) {
      }
      ::_exit(status);
    }
    ::close(ends[1]);
    told_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::close(told_);
    if (pid_ > 0) kill();
  }

  /// Waits until the child tells; false if it ended without.
  bool wait_until_told() {
    char byte;
    return ::read(told_, &byte, 1) == 1;
  }
  void kill() {
    ::kill(pid_, SIGKILL);
    wait();
  }
  /// The exit status, or -1 if it was killed.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
  int told_ = -1;
};

}  // namespace

TEST_CASE("publishing gives a file its name") {
  const TempDir dir;
  for (const bool overwrite : {false, true}) {
    const std::string name = overwrite ? "b.rec" : "a.rec";
    write_file(dir / "temporary", name);
    publish_file(dir / "temporary", dir / name, overwrite);
    CHECK(as_text(read_file(dir / name)) == name);
    CHECK_FALSE(fs::exists(dir / "temporary"));
  }
  CHECK(names_in(dir.path()) == std::set<std::string>{"a.rec", "b.rec"});
}

TEST_CASE("an existing file is replaced only when that is allowed") {
  const TempDir dir;
  write_file(dir / "out", "old");
  write_file(dir / "neighbour", "neighbour");
  write_file(dir / "temporary", "new");
  try {
    publish_file(dir / "temporary", dir / "out", false);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::already_exists);
    CHECK(error.place().file == (dir / "out").string());
  }
  CHECK(as_text(read_file(dir / "out")) == "old");
  CHECK(as_text(read_file(dir / "temporary")) == "new");

  publish_file(dir / "temporary", dir / "out", true);
  CHECK(as_text(read_file(dir / "out")) == "new");
  CHECK(names_in(dir.path()) == std::set<std::string>{"out", "neighbour"});
}

TEST_CASE("a dangling link and an empty folder count as existing") {
  const TempDir dir;
  write_file(dir / "temporary", "new");
  fs::create_symlink("nowhere", dir / "link");
  CHECK(code_of([&] { publish_file(dir / "temporary", dir / "link", false); }) == ErrorCode::already_exists);
  fs::create_directory(dir / "folder");
  CHECK(code_of([&] { publish_file(dir / "temporary", dir / "folder", false); }) == ErrorCode::already_exists);
  CHECK(code_of([&] { publish_file(dir / "temporary", dir / "folder", true); }) == ErrorCode::io);
  CHECK(names_in(dir.path()) == std::set<std::string>{"temporary", "link", "folder"});
}

TEST_CASE("readers of the old file keep it") {
  const TempDir dir;
  write_file(dir / "out", "old");
  const File old = File::open(dir / "out", File::Mode::read);
  write_file(dir / "temporary", "newer");
  publish_file(dir / "temporary", dir / "out", true);
  std::vector<std::byte> content(old.size());
  old.read_at(0, content);
  CHECK(as_text(content) == "old");
}

TEST_CASE("a relative name is published in the current folder") {
  const TempDir dir;
  write_file(dir / "temporary", "content");
  Child child([&](const auto&) {
    fs::current_path(dir.path());
    publish_file("temporary", "out", false);
    return 0;
  });
  CHECK(child.wait() == 0);
  CHECK(names_in(dir.path()) == std::set<std::string>{"out"});
}

TEST_CASE("what cannot be published says which file") {
  const TempDir dir;
  CHECK(code_of([&] { publish_file(dir / "none", dir / "out", true); }) == ErrorCode::not_found);
  write_file(dir / "temporary", "content");
  CHECK(code_of([&] { publish_file(dir / "temporary", dir / "no folder" / "out", false); }) == ErrorCode::not_found);
  CHECK(names_in(dir.path()) == std::set<std::string>{"temporary"});
}

TEST_CASE("of two builders that publish at once, one wins") {
  const TempDir dir;
  for (int round = 0; round < 20; ++round) {
    const fs::path out = dir / ("out" + std::to_string(round));
    write_file(dir / "a", "a");
    write_file(dir / "b", "b");
    const auto publish = [&](const std::string& name) {
      return [&dir, out, name](const auto&) {
        try {
          publish_file(dir / name, out, false);
        } catch (const Error& error) {
          return error.code() == ErrorCode::already_exists ? 1 : 2;
        }
        return 0;
      };
    };
    Child a(publish("a"));
    Child b(publish("b"));
    const int status_a = a.wait();
    const int status_b = b.wait();
    CHECK(status_a + status_b == 1);
    CHECK(as_text(read_file(out)) == (status_a == 0 ? "a" : "b"));
  }
}

TEST_CASE("removing quietly takes files only") {
  const TempDir dir;
  write_file(dir / "file", "content");
  fs::create_directory(dir / "folder");
  remove_quietly(dir / "file");
  remove_quietly(dir / "file");
  remove_quietly(dir / "folder");
  CHECK(names_in(dir.path()) == std::set<std::string>{"folder"});
}

TEST_CASE("a lock is created, keeps its content and is free afterwards") {
  const TempDir dir;
  {
    LockedFile lock = LockedFile::acquire(dir / "lock");
    CHECK((::fcntl(lock.file().descriptor(), F_GETFD) & FD_CLOEXEC) != 0);
    lock.file().write_at(0, as_bytes("journal"));
    CHECK(code_of([&] { LockedFile::acquire(dir / "lock"); }) == ErrorCode::busy);
    LockedFile moved = std::move(lock);
    CHECK(code_of([&] { LockedFile::acquire(dir / "lock"); }) == ErrorCode::busy);
  }
  LockedFile again = LockedFile::acquire(dir / "lock");
  CHECK(as_text(read_file(dir / "lock")) == "journal");
  again.remove();
  CHECK(names_in(dir.path()).empty());
  CHECK(code_of([&] { LockedFile::acquire(dir / "none" / "lock"); }) == ErrorCode::not_found);
}

TEST_CASE("a second process is told at once that the lock is taken") {
  const TempDir dir;
  const LockedFile lock = LockedFile::acquire(dir / "lock");
  // The child's own lock is another one than the one it has inherited.
  Child child([&](const auto&) {
    try {
      LockedFile::acquire(dir / "lock");
    } catch (const Error& error) {
      return error.code() == ErrorCode::busy && error.place().file == (dir / "lock").string() ? 0 : 1;
    }
    return 2;
  });
  CHECK(child.wait() == 0);
}

TEST_CASE("a killed holder leaves the lock free") {
  const TempDir dir;
  Child holder([&](const std::function<void()>& tell) {
    LockedFile lock = LockedFile::acquire(dir / "lock");
    lock.file().write_at(0, as_bytes("half done"));
    tell();
    while (true) ::pause();
    return 1;
  });
  REQUIRE(holder.wait_until_told());
  CHECK(code_of([&] { LockedFile::acquire(dir / "lock"); }) == ErrorCode::busy);
  holder.kill();
  LockedFile::acquire(dir / "lock");
  CHECK(as_text(read_file(dir / "lock")) == "half done");
}

TEST_CASE("a lock is never held twice, even if its holders remove the file") {
  const TempDir dir;
  enum Result { kOk = 0, kTwoHolders = 1, kWrongError = 2, kNameless = 3 };
  const auto compete = [&](const auto&) -> int {
    int held = 0;
    while (held < 500) {
      try {
        LockedFile lock = LockedFile::acquire(dir / "lock");
        // A lock on a file that has lost its name keeps nobody out.
        struct stat held_file {};
        struct stat named_file {};
        if (::fstat(lock.file().descriptor(), &held_file) != 0 || ::stat((dir / "lock").c_str(), &named_file) != 0 ||
            held_file.st_ino != named_file.st_ino) {
          return kNameless;
        }
        // Whoever holds the lock is the only one who can create this.
        const int inside = ::open((dir / "inside").c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        if (inside < 0) return kTwoHolders;
        ::close(inside);
        ::unlink((dir / "inside").c_str());
        if (++held % 3 != 0) lock.remove();
      } catch (const Error& error) {
        if (error.code() != ErrorCode::busy) return kWrongError;
      }
    }
    return kOk;
  };
  Child a(compete);
  Child b(compete);
  Child c(compete);
  CHECK(a.wait() == kOk);
  CHECK(b.wait() == kOk);
  CHECK(c.wait() == kOk);
}
