// Reads LMDB pages from memory without liblmdb: every page number, offset and size is checked before it is used.
//
// Why not liblmdb: it follows page numbers and node offsets blindly and crashes on damaged trees, its handles do not
// survive fork(), and reading needs a slot in a lock file. Looking a key up needs none of its machinery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "formats/lmdb/page_layout.h"

namespace imgpack::lmdb {

/// A branch or leaf page whose header and node table are known to lie inside it.
struct Page {
  std::uint64_t number = 0;
  std::span<const std::byte> bytes;
  PageKind kind = PageKind::leaf;
  std::uint32_t count = 0;  ///< nodes
  std::uint32_t upper = 0;  ///< where nodes begin; before it, behind the node table, there is nothing
};

/// A node of a branch page.
struct BranchNode {
  std::uint32_t offset = 0;  ///< in the page
  std::span<const std::byte> key;
  std::uint64_t child = 0;  ///< page number, unchecked: page() checks it
};

/// A node of a leaf page.
struct LeafNode {
  std::uint32_t offset = 0;  ///< in the page
  std::uint64_t file_offset = 0;
  std::uint16_t flags = 0;
  std::span<const std::byte> key;
  std::uint32_t value_size = 0;
  std::span<const std::byte> inline_bytes;  ///< the value, or with kNodeBig the number of its first overflow page
};

struct Value {
  std::span<const std::byte> bytes;
  std::uint64_t offset = 0;         ///< in the file
  std::uint64_t overflow_page = 0;  ///< 0: the value lies on the leaf page
  std::uint64_t overflow_pages = 0;
};

/// Thread-safe, allocates nothing. All functions throw Error(damaged), naming file and offset, on what breaks the
/// format.
class PageReader {
 public:
  /// REQUIRES: meta.file_size() <= file.size(). `file` and `path` must outlive the reader.
  PageReader(std::span<const std::byte> file, const std::filesystem::path& path, const Meta& meta) noexcept
      : file_(file), path_(&path), meta_(meta) {}

  const Meta& meta() const noexcept { return meta_; }
  std::uint32_t page_size() const noexcept { return meta_.page_size(); }
  std::span<const std::byte> file() const noexcept { return file_; }
  const std::filesystem::path& path() const noexcept { return *path_; }
  std::uint64_t offset_of(std::uint64_t page) const noexcept { return page * page_size(); }

  /// The bytes of any page. Throws if there is no such page.
  std::span<const std::byte> raw_page(std::uint64_t number, std::uint64_t named_at) const;
  /// A branch or leaf page. `named_at` is the file offset of what names it, for the error message.
  Page page(std::uint64_t number, PageKind kind, std::uint64_t named_at) const;
  /// REQUIRES: index < page.count for both.
  BranchNode branch_node(const Page& page, std::uint32_t index) const;
  LeafNode leaf_node(const Page& page, std::uint32_t index) const;

  Value value(const LeafNode& node) const;
  /// The same as far as the leaf page tells it: of a value on overflow pages neither the bytes nor the page count that
  /// its first page claims, but how many pages it needs. Reads nothing but the leaf.
  Value value_place(const LeafNode& node) const;
  /// The entry with that key, keys being ordered as bytes.
  std::optional<LeafNode> find(const Database& database, std::span<const std::byte> key) const;

  [[noreturn]] void damaged(std::uint64_t offset, std::string_view what) const;

 private:
  std::uint32_t node_offset(const Page& page, std::uint32_t index) const;

  std::span<const std::byte> file_;
  const std::filesystem::path* path_;
  Meta meta_;
};

/// Less than, equal to or greater than 0, as LMDB orders keys: as bytes, a prefix before what it begins.
int compare_keys(std::span<const std::byte> a, std::span<const std::byte> b) noexcept;

}  // namespace imgpack::lmdb
