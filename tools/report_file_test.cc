#include "tools/report_file.h"

#include <doctest/doctest.h>

#include "imgpack/error.h"
#include "tests/support/files.h"

namespace imgpack::tools {

namespace {

namespace fs = std::filesystem;

ErrorCode code_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  FAIL("nothing was thrown");
  return ErrorCode::io;
}

}  // namespace

TEST_CASE("a report is written, and replaced only when that is asked for") {
  const testing::TempDir folder;
  const fs::path file = folder / "report.txt";
  check_report_file(file, false);
  write_report_file(file, "first", false);
  CHECK(testing::as_text(testing::read_file(file)) == "first");
  CHECK(code_of([&] { check_report_file(file, false); }) == ErrorCode::already_exists);
  CHECK(code_of([&] { write_report_file(file, "second", false); }) == ErrorCode::already_exists);
  CHECK(testing::as_text(testing::read_file(file)) == "first");
  check_report_file(file, true);
  write_report_file(file, "second", true);
  CHECK(testing::as_text(testing::read_file(file)) == "second");
  CHECK(code_of([&] { write_report_file(folder / "absent/x", "x", false); }) == ErrorCode::not_found);
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

}  // namespace imgpack::tools
