#include "tools/output_file.h"

#include <span>
#include <string_view>

#include <doctest/doctest.h>

#include "tests/support/files.h"
#include "tests/support/thrown.h"

namespace imgpack::tools {

namespace {

namespace fs = std::filesystem;
using testing::code_of;

void write(const fs::path& path, std::string_view text, bool overwrite) {
  write_output(path, std::as_bytes(std::span(text)), overwrite);
}

}  // namespace

TEST_CASE("a file is written, and replaced only when that is asked for") {
  const testing::TempDir folder;
  const fs::path file = folder / "report.txt";
  check_output(file, false);
  write(file, "first", false);
  CHECK(testing::as_text(testing::read_file(file)) == "first");
  CHECK(code_of([&] { check_output(file, false); }) == ErrorCode::already_exists);
  CHECK(code_of([&] { write(file, "second", false); }) == ErrorCode::already_exists);
  CHECK(testing::as_text(testing::read_file(file)) == "first");
  check_output(file, true);
  write(file, "second", true);
  CHECK(testing::as_text(testing::read_file(file)) == "second");
  CHECK(code_of([&] { check_output(folder.path(), true); }) == ErrorCode::already_exists);
  CHECK(code_of([&] { write(folder / "absent/x", "x", false); }) == ErrorCode::not_found);
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

}  // namespace imgpack::tools
