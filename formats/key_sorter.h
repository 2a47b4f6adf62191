// Sorts (key hash, number) pairs in bounded memory: for key lookup tables and for finding duplicate keys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "formats/columns.h"
#include "mmap/append_file.h"
#include "mmap/file.h"

namespace imgpack {

/// Not thread-safe. Up to `memory_entries` pairs (24 bytes each) are held in memory; more go to a nameless file in
/// `work_dir` as sorted runs.
class KeySorter {
 public:
  explicit KeySorter(std::filesystem::path work_dir, std::size_t memory_entries = 1u << 20);
  ~KeySorter();

  void add(KeyHash hash, std::uint64_t number);
  /// Visits all pairs ordered by (hash, number). Once, after the last add().
  void visit(const std::function<void(KeyHash, std::uint64_t)>& visitor);

 private:
  struct Entry {
    KeyHash hash;
    std::uint64_t number;
    auto operator<=>(const Entry&) const = default;
  };
  class Run;
  void spill();

  std::filesystem::path work_dir_;
  std::size_t memory_entries_;
  std::vector<Entry> entries_;
  std::vector<std::uint64_t> run_sizes_;
  File file_;
  std::unique_ptr<AppendFile> out_;
};

}  // namespace imgpack
