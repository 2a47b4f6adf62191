// LMDB's data file, version 1, as bytes: page headers, nodes, database records and the two meta pages.
//
// Source: the structures MDB_page, MDB_node, MDB_db and MDB_meta of liblmdb 0.9 on 64-bit little-endian machines.
// README.md has the tables. Page numbers are u64; byte n of page p is at file offset p x page size + n.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace imgpack::lmdb {

inline constexpr std::uint32_t kMagic = 0xBEEFC0DE;
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kMinPageSize = 512;
inline constexpr std::uint32_t kMaxPageSize = 32768;
inline constexpr std::size_t kPageHeaderSize = 16;
inline constexpr std::size_t kNodeHeaderSize = 8;
inline constexpr std::size_t kDatabaseSize = 48;
inline constexpr std::size_t kMetaSize = 136;  ///< behind the page header
inline constexpr std::uint64_t kMetaPages = 2;
inline constexpr std::uint64_t kNoPage = ~std::uint64_t{0};
inline constexpr unsigned kMaxDepth = 32;

/// Page flags. Others (dirty, fixed-size leaves, sub-pages) do not occur in what imgpack writes.
enum class PageKind : std::uint16_t { branch = 0x01, leaf = 0x02, overflow = 0x04, meta = 0x08 };

inline constexpr std::uint16_t kNodeBig = 0x01;       ///< the value lies on overflow pages
inline constexpr std::uint16_t kNodeDatabase = 0x02;  ///< the value is a database record

inline constexpr std::uint16_t kIntegerKey = 0x08;  ///< database flag of the free list
inline constexpr std::uint16_t kNoSubdir = 0x4000;  ///< environment flag, stored in the free list's flags

/// A tree: its root and its counts.
struct Database {
  std::uint32_t pad = 0;
  std::uint16_t flags = 0;
  std::uint16_t depth = 0;
  std::uint64_t branch_pages = 0;
  std::uint64_t leaf_pages = 0;
  std::uint64_t overflow_pages = 0;
  std::uint64_t entries = 0;
  std::uint64_t root = kNoPage;
  bool operator==(const Database&) const = default;
};

/// REQUIRES: bytes.size() == kDatabaseSize.
Database parse_database(std::span<const std::byte> bytes);

/// One snapshot of the whole file. `free_list.pad` is the page size, `free_list.flags` has the environment's flags.
struct Meta {
  std::uint64_t map_size = 0;
  Database free_list;
  Database main;
  std::uint64_t last_page = 0;
  std::uint64_t transaction = 0;

  std::uint32_t page_size() const noexcept { return free_list.pad; }
  /// Bytes up to the end of the last page.
  std::uint64_t file_size() const noexcept { return (last_page + 1) * page_size(); }
};

/// The snapshot on the meta page that starts `bytes`, or nothing if it is none of version 1 or its numbers contradict
/// each other. Whether the file is long enough is for the caller to see.
std::optional<Meta> parse_meta_page(std::span<const std::byte> bytes);

/// The whole page, all that carries no meaning being zero.
std::vector<std::byte> encode_meta_page(const Meta& meta, std::uint64_t page_number);

/// Both snapshots of a file, the newer first; those that are damaged or reach beyond the file are left out.
std::vector<Meta> usable_metas(std::span<const std::byte> file);

/// Pages of an overflow run for a value of `size` bytes.
inline std::uint64_t overflow_pages_for(std::uint64_t size, std::uint32_t page_size) noexcept {
  return (kPageHeaderSize + size + page_size - 1) / page_size;
}
/// Bytes that a node takes on its page, including the byte that makes it even.
inline std::size_t node_size(std::size_t key_size, std::size_t inline_size) noexcept {
  return (kNodeHeaderSize + key_size + inline_size + 1) & ~std::size_t{1};
}

}  // namespace imgpack::lmdb
