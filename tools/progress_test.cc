#include "tools/progress.h"

#include <string>

#include <doctest/doctest.h>

#include <unistd.h>

#include "mmap/file.h"
#include "tests/support/files.h"

namespace imgpack::tools {

namespace {

/// What Progress writes when standard error is a file.
std::string shown(ProgressMode mode, bool quiet) {
  const testing::TempDir temp;
  {
    File err = File::open(temp / "err", File::Mode::create);
    Console console(STDOUT_FILENO, err.descriptor());
    Session session(console);
    session.progress = mode;
    session.quiet = quiet;
    Progress progress(session);
    progress.update("scanning", 0, 0, 0);
    progress.update("packing", 25, 100, 5'000'000);
    progress.update("packing", 26, 100, 5'000'000);
  }
  return std::string(testing::as_text(testing::read_file(temp / "err")));
}

}  // namespace

TEST_CASE("plain progress is whole lines: one at the start of each stage, then now and then") {
  CHECK(shown(ProgressMode::plain, false) == "scanning\npacking 25 of 100 (25 %), 5.0 MB\n");
}

TEST_CASE("nothing is shown where nobody can see it or wants it") {
  CHECK(shown(ProgressMode::automatic, false).empty());
  CHECK(shown(ProgressMode::none, false).empty());
  CHECK(shown(ProgressMode::plain, true).empty());
}

}  // namespace imgpack::tools
