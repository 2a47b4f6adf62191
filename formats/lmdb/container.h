// An imgpack dataset in an LMDB file, as far as opening it goes: its databases, its layout and its description.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "formats/lmdb/page_reader.h"
#include "formats/lmdb/row.h"
#include "imgpack/dataset_info.h"

namespace imgpack::lmdb {

/// The databases that appear in the main database under their names.
struct NamedDatabases {
  Database keys;
  Database lookup;
  Database meta;
  Database records;
  std::optional<Database> segments;  ///< only if any record has segments

  std::uint64_t count() const noexcept { return segments ? 5 : 4; }
};

/// Thread-safe for const functions, which allocate nothing and throw Error(damaged).
class Container {
 public:
  /// `file` and `path` must outlive the container. Throws damaged, or unsupported if another program wrote the file.
  static Container open(std::span<const std::byte> file, const std::filesystem::path& path);

  const PageReader& pages() const noexcept { return pages_; }
  const DatasetInfo& info() const noexcept { return info_; }
  std::uint64_t records() const noexcept { return info_.records; }
  unsigned key_digits() const noexcept { return key_digits_; }
  const NamedDatabases& databases() const noexcept { return databases_; }

  // REQUIRES: record < records().
  Value payload(std::uint64_t record) const;
  /// Empty if the record has none.
  std::span<const std::byte> segments(std::uint64_t record) const;
  Row row(std::uint64_t record) const;
  std::string_view key(std::uint64_t record) const;
  /// Where the record's entries are among the file's leaf pages.
  std::uint64_t row_offset(std::uint64_t record) const;
  std::uint64_t key_offset(std::uint64_t record) const;
  std::optional<std::uint64_t> find(std::string_view key) const;

 private:
  explicit Container(const PageReader& pages) : pages_(pages) {}
  void open_databases();
  void open_description();
  LeafNode entry(const Database& database, std::string_view name, std::uint64_t record) const;

  PageReader pages_;
  NamedDatabases databases_;
  unsigned key_digits_ = kMinKeyDigits;
  DatasetInfo info_;
};

/// The database record in a main database entry. Throws damaged if it is none or points outside the file.
Database database_of(const PageReader& pages, const LeafNode& node);

}  // namespace imgpack::lmdb
