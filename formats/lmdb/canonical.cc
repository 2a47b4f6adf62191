#include "formats/lmdb/canonical.h"

#include <algorithm>

#include <fmt/format.h>

#include "formats/lmdb/container.h"
#include "formats/lmdb/tree_walk.h"
#include "imgpack/error.h"
#include "mmap/file.h"
#include "mmap/little_endian.h"
#include "mmap/mapped_file.h"
#include "mmap/paths.h"

namespace imgpack::lmdb {

namespace {

/// Fills `ranges` with the page's nodes in the order in which they lie there.
void collect_nodes(const PageReader& pages, const Page& page, std::vector<NodeRange>& ranges) {
  ranges.clear();
  for (std::uint32_t i = 0; i < page.count; ++i) {
    std::uint32_t begin;
    std::size_t content;
    if (page.kind == PageKind::branch) {
      const BranchNode node = pages.branch_node(page, i);
      begin = node.offset;
      content = node.key.size();
    } else {
      const LeafNode node = pages.leaf_node(page, i);
      begin = node.offset;
      content = node.key.size() + node.inline_bytes.size();
    }
    ranges.push_back({.begin = begin,
                      .padding = begin + static_cast<std::uint32_t>(kNodeHeaderSize + content),
                      .end = begin + static_cast<std::uint32_t>(node_size(content, 0))});
  }
  std::sort(ranges.begin(), ranges.end());
}

/// Calls `clear(begin, end)` for the parts of the page that carry nothing.
template <typename Clear>
void for_unused(const Page& page, const std::vector<NodeRange>& ranges, Clear&& clear) {
  clear(std::size_t{8}, std::size_t{10});
  clear(kPageHeaderSize + std::size_t{2} * page.count, std::size_t{page.upper});
  for (const NodeRange& range : ranges) clear(std::size_t{range.padding}, std::size_t{range.end});
}

/// Writes zeros where they belong, page by page, and writes only pages that change.
class Cleaner final : public TreeVisitor {
 public:
  Cleaner(const PageReader& pages, const MappedFile& map, File& file) : pages_(pages), map_(map), file_(file) {}

  void visit_page(const Page& page) override {
    touch();
    collect_nodes(pages_, page, ranges_);
    image_.assign(page.bytes.begin(), page.bytes.end());
    for_unused(page, ranges_, [&](std::size_t begin, std::size_t end) {
      if (begin < end && end <= image_.size()) std::fill(image_.begin() + begin, image_.begin() + end, std::byte{0});
    });
    if (!std::equal(image_.begin(), image_.end(), page.bytes.begin())) {
      file_.write_at(pages_.offset_of(page.number), image_);
    }
  }

  /// Of a run of several pages liblmdb zeroes the last page before it copies the value in; reading the ends of all
  /// payloads back to see that would cost as much as writing them.
  bool wants_value(const LeafNode& node) const override {
    return overflow_pages_for(node.value_size, pages_.page_size()) == 1;
  }

  void visit_entry(const LeafNode& node, const Value& value) override {
    if (value.overflow_pages == 1) {
      const std::uint64_t end = pages_.offset_of(value.overflow_page + 1);
      zero(value.offset + node.value_size, end);
      zero(pages_.offset_of(value.overflow_page) + 8, pages_.offset_of(value.overflow_page) + 10);
    }
    if ((node.flags & kNodeDatabase) != 0) databases.push_back(database_of(pages_, node));
  }

  void zero(std::uint64_t begin, std::uint64_t end) {
    touch();
    const std::span<const std::byte> now = pages_.file().subspan(begin, end - begin);
    if (std::all_of(now.begin(), now.end(), [](std::byte b) { return b == std::byte{0}; })) return;
    image_.assign(now.size(), std::byte{0});
    file_.write_at(begin, image_);
  }

  std::vector<Database> databases;  ///< found in the tree

 private:
  void touch() {
    // A touched page makes the kernel map its neighbours too: 64 KiB each time.
    if (++touched_ % 1024 == 0) map_.release(0, map_.size());
  }

  const PageReader& pages_;
  const MappedFile& map_;
  File& file_;
  std::uint64_t touched_ = 0;
  std::vector<NodeRange> ranges_;
  std::vector<std::byte> image_;
};

class FreeListCleaner final : public TreeVisitor {
 public:
  FreeListCleaner(const PageReader& pages, Cleaner& cleaner) : pages_(pages), cleaner_(cleaner) {}

  void visit_page(const Page& page) override { cleaner_.visit_page(page); }

  void visit_entry(const LeafNode&, const Value& value) override {
    const std::span<const std::byte> numbers = free_page_numbers(pages_, value);
    for (std::size_t at = 0; at < numbers.size(); at += sizeof(std::uint64_t)) {
      const auto page = load_le<std::uint64_t>(numbers.data() + at);
      pages_.raw_page(page, value.offset);
      cleaner_.zero(pages_.offset_of(page), pages_.offset_of(page + 1));
    }
    // liblmdb reserves room before it knows how many numbers there will be.
    const std::uint64_t used = value.offset + sizeof(std::uint64_t) + numbers.size();
    cleaner_.zero(used, value.overflow_pages == 0 ? value.offset + value.bytes.size()
                                                  : pages_.offset_of(value.overflow_page + value.overflow_pages));
  }

 private:
  const PageReader& pages_;
  Cleaner& cleaner_;
};

}  // namespace

std::optional<std::size_t> non_canonical_byte(const PageReader& pages, const Page& page,
                                              std::vector<NodeRange>& ranges) {
  collect_nodes(pages, page, ranges);
  std::uint32_t end = page.upper;
  for (const NodeRange& range : ranges) {
    if (range.begin != end) return range.begin;
    end = range.end;
  }
  if (end != page.bytes.size()) return end;
  std::optional<std::size_t> bad;
  for_unused(page, ranges, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to && !bad; ++i) {
      if (page.bytes[i] != std::byte{0}) bad = i;
    }
  });
  return bad;
}

Meta canonical_meta(const Meta& live, std::uint64_t page_number) {
  Meta meta = live;
  meta.map_size = live.file_size();
  if (live.transaction % kMetaPages != page_number) --meta.transaction;
  return meta;
}

void canonicalise(const std::filesystem::path& path) {
  File file = File::open(path, File::Mode::read_write);
  const MappedFile map = MappedFile::map(file, Access::random);
  const std::vector<Meta> metas = usable_metas(map.bytes());
  if (metas.empty()) {
    throw Error(ErrorCode::damaged, "the file that was just written has no usable meta page", in_file(path, 0));
  }
  const Meta& live = metas.front();
  const PageReader pages(map.bytes(), map.path(), live);
  PageSet used(live.last_page + 1);
  Cleaner cleaner(pages, map, file);
  walk_tree(pages, live.main, TreeOrder::appended, used, cleaner);
  const std::vector<Database> named = cleaner.databases;
  for (const Database& database : named) walk_tree(pages, database, TreeOrder::appended, used, cleaner);
  FreeListCleaner free_list(pages, cleaner);
  walk_tree(pages, live.free_list, TreeOrder::free_list, used, free_list);
  for (std::uint64_t number = 0; number < kMetaPages; ++number) {
    file.write_at(pages.offset_of(number), encode_meta_page(canonical_meta(live, number), number));
  }
  file.truncate(live.file_size());
}

std::string digest_text(std::uint64_t digest) {
  return fmt::format("{:016x}", digest);
}

}  // namespace imgpack::lmdb
