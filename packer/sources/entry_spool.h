// Source entries in nameless files instead of in memory: written once, in any split order, then read by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "mmap/append_file.h"
#include "mmap/file.h"
#include "packer/source.h"

namespace imgpack {

/// First add(), then finish(), then read(). Two files: the entries, and a row of fixed size an entry that says where it
/// is. add() and finish() are not thread-safe, read() is.
class EntrySpool {
 public:
  static constexpr std::uint32_t kMaxSplits = 65536;

  explicit EntrySpool(const std::filesystem::path& work_dir);

  /// Returns the part of the encoded entry that says what will be packed (key, label, fields), valid until the next
  /// call. REQUIRES: entry.split < kMaxSplits.
  std::span<const std::byte> add(const SourceEntry& entry);
  /// No add() follows. Entries can be read now, in the order in which they were added.
  void finish();
  /// Renumbers the entries by split; within a split they keep their order. After finish().
  void order_by_split();

  std::uint64_t size() const noexcept { return size_; }
  /// Number of entries of each split up to the highest that was added.
  const std::vector<std::uint64_t>& split_sizes() const noexcept { return split_sizes_; }

  /// Throws invalid_argument beyond size(), io.
  void read(std::uint64_t number, SourceEntry& entry) const;

 private:
  std::filesystem::path work_dir_;
  // Held by pointer: the appenders refer to them, and a spool can be moved.
  std::unique_ptr<File> entries_;
  std::unique_ptr<File> rows_;
  std::unique_ptr<AppendFile> entries_out_;
  std::unique_ptr<AppendFile> rows_out_;
  std::uint64_t size_ = 0;
  std::vector<std::uint64_t> split_sizes_;
  std::uint32_t last_split_ = 0;
  bool ordered_ = true;
  std::vector<std::byte> scratch_;
};

}  // namespace imgpack
