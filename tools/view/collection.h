// Several packed datasets looked at as one: records numbered through, classes and splits joined by name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "imgpack/store.h"
#include "tools/selection.h"

namespace imgpack::tools {

/// Thread-safe once it is made. Throws what StoreReader throws about damage.
class Collection {
 public:
  /// Throws what open_store throws, not_found for a split or class of `selection` that no file has.
  static Collection open(const std::vector<std::string>& files, const Selection& selection);

  std::uint64_t size() const noexcept { return end_.back(); }
  const std::vector<std::unique_ptr<StoreReader>>& stores() const noexcept { return stores_; }
  /// Of all files, in the order in which they first appear. Labels of a file without class names are named "0", "1",
  /// ...
  const std::vector<ClassInfo>& classes() const noexcept { return classes_; }
  /// Names of all files' splits. With several files, one without splits counts as a split of the file's name.
  const std::vector<std::string>& splits() const noexcept { return splits_; }

  /// Whether --split and --class mean this record.
  bool selected(std::uint64_t record) const;
  /// Whether they mean every record.
  bool whole() const noexcept { return wanted_splits_.empty() && wanted_classes_.empty(); }

  RecordMeta meta(std::uint64_t record) const;
  std::string_view key(std::uint64_t record) const;
  RecordBytes bytes(std::uint64_t record) const;
  /// Index into splits(); nothing if no split holds the record.
  std::optional<std::size_t> split_of(std::uint64_t record) const;
  /// Index into classes(); nothing without a label that has a name.
  std::optional<std::size_t> class_of(std::uint64_t record, const RecordMeta& meta) const;
  /// The number of the store that holds the record, and the record's number there.
  struct Place {
    std::size_t store = 0;
    std::uint64_t record = 0;
  };
  Place place(std::uint64_t record) const;

  /// Takes the payloads of [begin, end) out of this process's resident memory.
  void release(std::uint64_t begin, std::uint64_t end) const;

 private:
  struct SplitRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::size_t split = 0;
  };

  Collection() = default;
  void add(std::unique_ptr<StoreReader> store, bool one_of_several);
  void add_splits(const StoreReader& store, std::uint64_t first, bool one_of_several);
  std::vector<std::size_t> add_classes(const StoreReader& store);
  std::size_t split_named(const std::string& name);
  void select(const Selection& selection);

  std::vector<std::unique_ptr<StoreReader>> stores_;
  std::vector<std::uint64_t> end_;                   ///< by store: the number behind its last record
  std::vector<std::vector<std::size_t>> class_map_;  ///< by store, by label
  std::vector<SplitRange> ranges_;                   ///< by begin
  std::vector<ClassInfo> classes_;
  std::vector<std::string> splits_;
  std::vector<bool> wanted_splits_;   ///< empty: all
  std::vector<bool> wanted_classes_;  ///< empty: all
};

}  // namespace imgpack::tools
