// Walks a whole tree in key order, checking its structure: for check_container(), recovery and canonicalisation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/lmdb/page_reader.h"
#include "imgpack/error.h"

namespace imgpack::lmdb {

/// A set of page numbers as a bitmap: one bit a page, 32 MiB a TiB of 4 KiB pages.
class PageSet {
 public:
  explicit PageSet(std::uint64_t pages) : pages_(pages), bits_((pages + 63) / 64) {}

  /// Adds [first, first + count). False, adding nothing, if a page does not exist or is there already.
  bool claim(std::uint64_t first, std::uint64_t count);
  bool contains(std::uint64_t page) const noexcept { return (bits_[page / 64] >> page % 64 & 1) != 0; }
  std::uint64_t pages() const noexcept { return pages_; }

 private:
  std::uint64_t pages_;
  std::vector<std::uint64_t> bits_;
};

/// Receives what walk_tree() finds. Functions may throw to end the walk.
class TreeVisitor {
 public:
  virtual ~TreeVisitor() = default;
  /// A branch or leaf page, before its entries.
  virtual void visit_page(const Page& page) { static_cast<void>(page); }
  /// Whether visit_entry() is to be given the value's bytes; otherwise only its place, which spares reading its pages.
  virtual bool wants_value(const LeafNode& node) const { return static_cast<void>(node), true; }
  virtual void visit_entry(const LeafNode& node, const Value& value) = 0;
  /// A page or entry cannot be used; what hangs on it is left out and the walk goes on. By default the walk ends.
  virtual void visit_damage(const Error& error) { throw error; }
};

enum class TreeOrder {
  appended,   ///< keys as bytes; each branch key is exactly the first key below it, as insertion in order leaves it
  free_list,  ///< keys are u64 numbers; branch keys are bounds
};

struct TreeCounts {
  std::uint64_t branch_pages = 0;
  std::uint64_t leaf_pages = 0;
  std::uint64_t overflow_pages = 0;
  std::uint64_t entries = 0;
};

/// Claims every page of the tree in `used`, so that no page serves twice and a cycle cannot hold the walk up.
TreeCounts walk_tree(const PageReader& reader, const Database& database, TreeOrder order, PageSet& used,
                     TreeVisitor& visitor);

/// The page numbers in a value of the free list. Throws damaged if the value is too short for its count.
std::span<const std::byte> free_page_numbers(const PageReader& reader, const Value& value);

}  // namespace imgpack::lmdb
