#include "formats/lmdb/tree_walk.h"

#include <fmt/format.h>

#include "mmap/little_endian.h"

namespace imgpack::lmdb {

namespace {

using Key = std::span<const std::byte>;

class Walk {
 public:
  Walk(const PageReader& reader, const Database& database, TreeOrder order, PageSet& used, TreeVisitor& visitor)
      : reader_(reader), depth_(database.depth), order_(order), used_(used), visitor_(visitor) {}

  TreeCounts run(std::uint64_t root) {
    guarded([&] { descend(root, 1, 0); });
    return counts_;
  }

 private:
  template <typename Step>
  void guarded(Step&& step) {
    try {
      step();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::damaged) throw;
      visitor_.visit_damage(error);
    }
  }

  void descend(std::uint64_t number, unsigned level, std::uint64_t named_at) {
    const Page page = reader_.page(number, level == depth_ ? PageKind::leaf : PageKind::branch, named_at);
    claim(number, 1, named_at);
    visitor_.visit_page(page);
    if (level == depth_) {
      ++counts_.leaf_pages;
      for (std::uint32_t i = 0; i < page.count; ++i) guarded([&] { entry(page, i); });
    } else {
      ++counts_.branch_pages;
      for (std::uint32_t i = 0; i < page.count; ++i) guarded([&] { child(page, i, level); });
    }
  }

  void child(const Page& page, std::uint32_t index, unsigned level) {
    const BranchNode node = reader_.branch_node(page, index);
    const std::uint64_t at = reader_.offset_of(page.number) + node.offset;
    if (index > 0) {
      check_key(node.key, at);
      if (has_last_ && compare(node.key, last_) <= 0)
        reader_.damaged(at, "a branch key is not above the keys before it");
      lower_ = node.key;
      has_lower_ = true;
    } else if (order_ == TreeOrder::appended && !node.key.empty() && !(has_lower_ && compare(node.key, lower_) == 0)) {
      reader_.damaged(at, "the first branch key of a page is wrong");
    }
    descend(node.child, level + 1, at);
  }

  void entry(const Page& page, std::uint32_t index) {
    const LeafNode node = reader_.leaf_node(page, index);
    check_key(node.key, node.file_offset);
    if (has_last_ && compare(last_, node.key) >= 0) reader_.damaged(node.file_offset, "keys are out of order");
    if (has_lower_) {
      const int below = compare(lower_, node.key);
      has_lower_ = false;
      if (order_ == TreeOrder::appended ? below != 0 : below > 0) {
        reader_.damaged(node.file_offset, "a branch key does not match the first key below it");
      }
    }
    last_ = node.key;
    has_last_ = true;
    const Value value = visitor_.wants_value(node) ? reader_.value(node) : reader_.value_place(node);
    if (value.overflow_pages != 0) {
      claim(value.overflow_page, value.overflow_pages, node.file_offset);
      counts_.overflow_pages += value.overflow_pages;
    }
    ++counts_.entries;
    visitor_.visit_entry(node, value);
  }

  void claim(std::uint64_t first, std::uint64_t count, std::uint64_t named_at) {
    if (!used_.claim(first, count)) reader_.damaged(named_at, fmt::format("page {} is used twice", first));
  }

  void check_key(Key key, std::uint64_t at) const {
    if (order_ == TreeOrder::free_list && key.size() != sizeof(std::uint64_t)) {
      reader_.damaged(at, "a key of the free list is no transaction number");
    }
  }

  int compare(Key a, Key b) const {
    if (order_ == TreeOrder::appended) return compare_keys(a, b);
    const auto x = load_le<std::uint64_t>(a.data());
    const auto y = load_le<std::uint64_t>(b.data());
    return x < y ? -1 : x > y ? 1 : 0;
  }

  const PageReader& reader_;
  unsigned depth_;
  TreeOrder order_;
  PageSet& used_;
  TreeVisitor& visitor_;
  TreeCounts counts_;
  Key last_;   ///< the last entry's key
  Key lower_;  ///< the branch key above the entries that come next
  bool has_last_ = false;
  bool has_lower_ = false;
};

}  // namespace

bool PageSet::claim(std::uint64_t first, std::uint64_t count) {
  if (first >= pages_ || count > pages_ - first) return false;
  for (std::uint64_t page = first; page < first + count; ++page) {
    if (contains(page)) return false;
  }
  for (std::uint64_t page = first; page < first + count; ++page) bits_[page / 64] |= std::uint64_t{1} << page % 64;
  return true;
}

TreeCounts walk_tree(const PageReader& reader, const Database& database, TreeOrder order, PageSet& used,
                     TreeVisitor& visitor) {
  if (database.root == kNoPage) return {};
  return Walk(reader, database, order, used, visitor).run(database.root);
}

std::span<const std::byte> free_page_numbers(const PageReader& reader, const Value& value) {
  constexpr std::size_t kNumber = sizeof(std::uint64_t);
  if (value.bytes.size() < kNumber || value.bytes.size() % kNumber != 0) {
    reader.damaged(value.offset, "an entry of the free list has an impossible size");
  }
  const auto count = load_le<std::uint64_t>(value.bytes.data());
  if (count > value.bytes.size() / kNumber - 1) {
    reader.damaged(value.offset, "an entry of the free list is shorter than its count");
  }
  return value.bytes.subspan(kNumber, static_cast<std::size_t>(count) * kNumber);
}

}  // namespace imgpack::lmdb
