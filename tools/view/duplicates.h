// Records with the same payload, told by their checksums: copies, and copies across splits, which are leakage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace imgpack::tools {

/// 16 bytes a record is what looking for duplicates takes.
struct PayloadHash {
  std::uint64_t hash = 0;
  std::uint64_t record = 0;
};

/// Records whose payloads are equal.
struct DuplicateGroup {
  static constexpr std::size_t kMostMembers = 8;

  std::uint64_t hash = 0;
  std::uint64_t records = 0;           ///< 2 or more
  std::vector<std::uint64_t> members;  ///< the first kMostMembers, those in several splits for certain
  bool leakage = false;                ///< they lie in more than one split
  bool conflict = false;               ///< they have more than one class
};

struct Duplicates {
  std::uint64_t groups = 0;
  std::uint64_t records = 0;  ///< in all groups
  std::uint64_t leakage_groups = 0;
  std::uint64_t leakage_records = 0;
  std::uint64_t conflict_groups = 0;
  std::vector<DuplicateGroup> listed;  ///< leakage first, then by first record

  /// Records that are there already.
  std::uint64_t copies() const noexcept { return records - groups; }
};

/// A number for a record's split or class; nothing if it has none, which counts as one of its own.
using GroupOf = std::function<std::optional<std::size_t>(std::uint64_t record)>;

/// Sorts `hashes`. At most `most_listed` groups are listed.
Duplicates find_duplicates(std::vector<PayloadHash>& hashes, const GroupOf& split_of, const GroupOf& class_of,
                           std::size_t most_listed);

}  // namespace imgpack::tools
