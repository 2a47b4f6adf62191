// What the tests of the scans share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "imgpack/error.h"
#include "packer/source.h"
#include "tests/support/files.h"
#include "tests/support/thrown.h"

namespace imgpack::testing {

inline std::unique_ptr<Source> open_in(const TempDir& work, const std::filesystem::path& path,
                                       bool need_sizes = false) {
  return open_source(path, {.work_dir = work.path(), .need_sizes = need_sizes});
}

inline std::vector<SourceEntry> entries_of(const Source& source) {
  std::vector<SourceEntry> entries(source.size());
  for (std::uint64_t i = 0; i < source.size(); ++i) source.entry(i, entries[i]);
  return entries;
}

inline std::vector<std::string> keys_of(const Source& source) {
  std::vector<std::string> keys;
  for (const SourceEntry& entry : entries_of(source)) keys.push_back(entry.key);
  return keys;
}

inline std::vector<std::int64_t> labels_in(const Source& source) {
  std::vector<std::int64_t> labels;
  for (const SourceEntry& entry : entries_of(source)) labels.push_back(entry.label);
  return labels;
}

inline std::vector<std::string> class_names(const Source& source) {
  std::vector<std::string> names;
  for (const ClassInfo& one : source.info().classes) names.push_back(one.name);
  return names;
}

inline std::vector<std::string> split_names(const Source& source) {
  std::vector<std::string> names;
  for (const Split& one : source.info().splits) names.push_back(one.name);
  return names;
}

/// The entry with that key; fails the test if there is none.
inline SourceEntry entry_named(const Source& source, const std::string& key) {
  for (SourceEntry& entry : entries_of(source)) {
    if (entry.key == key) return entry;
  }
  FAIL("no entry " << key);
  return {};
}

inline std::string read_text(const Source& source, const SourceEntry& entry) {
  ByteBuffer bytes;
  source.read(entry, bytes);
  return std::string(as_text(bytes.bytes()));
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// While it lives, the process has no special rights: root may read everything and would not see a denied permission.
class WithoutRoot {
 public:
  WithoutRoot() : was_root_(::geteuid() == 0) {
    if (was_root_) REQUIRE(::seteuid(65534) == 0);
  }
  ~WithoutRoot() {
    if (was_root_ && ::seteuid(0) != 0) std::abort();
  }
  WithoutRoot(const WithoutRoot&) = delete;
  WithoutRoot& operator=(const WithoutRoot&) = delete;

 private:
  bool was_root_;
};

/// Lets a process without rights enter and write a test's folder.
inline void open_to_all(const TempDir& folder) {
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
}

}  // namespace imgpack::testing
