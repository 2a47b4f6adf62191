// For tests of what all formats promise alike.
#pragma once

#include <filesystem>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "formats/backend.h"
#include "imgpack/store.h"
#include "tests/support/files.h"

namespace imgpack::testing {

/// Calls `check(format)` for each format of this build.
template <typename Check>
void for_each_format(Check&& check) {
  for (const FormatEntry& entry : format_entries()) {
    CAPTURE(to_string(entry.format));
    check(entry.format);
  }
}

inline std::filesystem::path output(const TempDir& dir, Format format) {
  return dir / fmt::format("out.{}", to_string(format));
}

}  // namespace imgpack::testing
