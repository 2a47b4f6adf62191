// The list that every scan fills: entries in order, kept in a nameless file instead of in memory, and the folders and
// files ("containers") that their bytes lie in. One finished list is one Source.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "packer/source.h"

namespace imgpack {

/// Filled by a scan, then turned into a Source by finish(). Not thread-safe.
class SourceList {
 public:
  explicit SourceList(const SourceOptions& options);
  ~SourceList();

  /// The scan sets classes, fields, source_kind, source_name, and split names (in the order of SourceEntry::split).
  DatasetInfo info;

  /// A folder under which SourceEntry::path is opened. Returns the container number.
  std::uint32_t add_folder(const std::filesystem::path& folder);
  /// A file of which SourceEntry::offset and size name a range.
  std::uint32_t add_file(const std::filesystem::path& file);

  /// Entries are reordered by split (stable), else they stay in the order in which they are added.
  void add(const SourceEntry& entry);
  void warn(std::string warning);
  std::uint64_t size() const noexcept;

  /// Checks keys for duplicates. Throws refused if the list is empty or a key stands twice.
  std::unique_ptr<Source> finish() &&;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace imgpack
