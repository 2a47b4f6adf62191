#include "formats/lmdb/page_reader.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "imgpack/error.h"
#include "mmap/little_endian.h"

namespace imgpack::lmdb {

int compare_keys(std::span<const std::byte> a, std::span<const std::byte> b) noexcept {
  const std::size_t common = std::min(a.size(), b.size());
  const int order = common == 0 ? 0 : std::memcmp(a.data(), b.data(), common);
  if (order != 0) return order;
  return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
}

void PageReader::damaged(std::uint64_t offset, std::string_view what) const {
  throw Error(ErrorCode::damaged, std::string(what), {.file = path_->string(), .record = {}, .offset = offset});
}

std::span<const std::byte> PageReader::raw_page(std::uint64_t number, std::uint64_t named_at) const {
  if (number < kMetaPages || number > meta_.last_page) {
    damaged(named_at, fmt::format("page number {} is outside the file's {} pages", number, meta_.last_page + 1));
  }
  return file_.subspan(static_cast<std::size_t>(offset_of(number)), page_size());
}

Page PageReader::page(std::uint64_t number, PageKind kind, std::uint64_t named_at) const {
  const std::span<const std::byte> bytes = raw_page(number, named_at);
  const std::uint64_t at = offset_of(number);
  if (load_le<std::uint64_t>(bytes.data()) != number) damaged(at, "the page does not bear its own number");
  if (load_le<std::uint16_t>(bytes.data() + 10) != static_cast<std::uint16_t>(kind)) {
    damaged(at + 10, kind == PageKind::branch ? "the page is not the branch page that is expected here"
                                              : "the page is not the leaf page that is expected here");
  }
  const std::uint32_t lower = load_le<std::uint16_t>(bytes.data() + 12);
  const std::uint32_t upper = load_le<std::uint16_t>(bytes.data() + 14);
  if (lower < kPageHeaderSize || lower % 2 != 0 || lower > upper || upper > page_size()) {
    damaged(at + 12, "the page's bounds of free space are impossible");
  }
  const auto count = static_cast<std::uint32_t>((lower - kPageHeaderSize) / 2);
  if (count == 0) damaged(at + 12, "the page is empty");
  return {.number = number, .bytes = bytes, .kind = kind, .count = count, .upper = upper};
}

std::uint32_t PageReader::node_offset(const Page& page, std::uint32_t index) const {
  const std::size_t slot = kPageHeaderSize + std::size_t{2} * index;
  const std::uint32_t offset = load_le<std::uint16_t>(page.bytes.data() + slot);
  if (offset < page.upper || offset > page.bytes.size() - kNodeHeaderSize) {
    damaged(offset_of(page.number) + slot, "a node's offset is outside its page");
  }
  return offset;
}

BranchNode PageReader::branch_node(const Page& page, std::uint32_t index) const {
  const std::uint32_t offset = node_offset(page, index);
  const std::byte* node = page.bytes.data() + offset;
  const std::size_t key_size = load_le<std::uint16_t>(node + 6);
  if (key_size > page.bytes.size() - kNodeHeaderSize - offset) {
    damaged(offset_of(page.number) + offset + 6, "a key is longer than its page");
  }
  const std::uint64_t child = load_le<std::uint32_t>(node) | std::uint64_t{load_le<std::uint16_t>(node + 4)} << 32;
  return {.offset = offset, .key = page.bytes.subspan(offset + kNodeHeaderSize, key_size), .child = child};
}

LeafNode PageReader::leaf_node(const Page& page, std::uint32_t index) const {
  LeafNode out;
  out.offset = node_offset(page, index);
  out.file_offset = offset_of(page.number) + out.offset;
  const std::byte* node = page.bytes.data() + out.offset;
  out.value_size = load_le<std::uint32_t>(node);
  out.flags = load_le<std::uint16_t>(node + 4);
  if ((out.flags & ~(kNodeBig | kNodeDatabase)) != 0 || out.flags == (kNodeBig | kNodeDatabase)) {
    damaged(out.file_offset + 4, "an entry has flags that imgpack does not write");
  }
  const std::size_t key_size = load_le<std::uint16_t>(node + 6);
  const std::size_t room = page.bytes.size() - kNodeHeaderSize - out.offset;
  if (key_size > room) damaged(out.file_offset + 6, "a key is longer than its page");
  const std::size_t inline_size = (out.flags & kNodeBig) != 0 ? sizeof(std::uint64_t) : out.value_size;
  if (inline_size > room - key_size) damaged(out.file_offset, "a value is longer than its page");
  out.key = page.bytes.subspan(out.offset + kNodeHeaderSize, key_size);
  out.inline_bytes = page.bytes.subspan(out.offset + kNodeHeaderSize + key_size, inline_size);
  return out;
}

Value PageReader::value(const LeafNode& node) const {
  const std::uint64_t value_at = node.file_offset + kNodeHeaderSize + node.key.size();
  if ((node.flags & kNodeBig) == 0) return {.bytes = node.inline_bytes, .offset = value_at};
  const auto first = load_le<std::uint64_t>(node.inline_bytes.data());
  const std::span<const std::byte> head = raw_page(first, value_at);
  const std::uint64_t at = offset_of(first);
  if (load_le<std::uint64_t>(head.data()) != first) damaged(at, "the page does not bear its own number");
  if (load_le<std::uint16_t>(head.data() + 10) != static_cast<std::uint16_t>(PageKind::overflow)) {
    damaged(at + 10, "the page is not the overflow page that is expected here");
  }
  const std::uint64_t pages = load_le<std::uint32_t>(head.data() + 12);
  if (pages < overflow_pages_for(node.value_size, page_size()) || pages - 1 > meta_.last_page - first) {
    damaged(at + 12, "the overflow pages do not fit their value or the file");
  }
  const std::uint64_t offset = at + kPageHeaderSize;
  return {.bytes = file_.subspan(static_cast<std::size_t>(offset), node.value_size),
          .offset = offset,
          .overflow_page = first,
          .overflow_pages = pages};
}

Value PageReader::value_place(const LeafNode& node) const {
  if ((node.flags & kNodeBig) == 0) return value(node);
  const auto first = load_le<std::uint64_t>(node.inline_bytes.data());
  raw_page(first, node.file_offset);
  const std::uint64_t pages = overflow_pages_for(node.value_size, page_size());
  if (pages - 1 > meta_.last_page - first) damaged(node.file_offset, "a value does not fit the file");
  return {.bytes = {}, .offset = offset_of(first) + kPageHeaderSize, .overflow_page = first, .overflow_pages = pages};
}

std::optional<LeafNode> PageReader::find(const Database& database, std::span<const std::byte> key) const {
  if (database.root == kNoPage || database.depth == 0) return std::nullopt;
  std::uint64_t number = database.root;
  std::uint64_t named_at = 0;
  // The depth was checked to be at most kMaxDepth, so a cycle of pages cannot hold us up.
  for (unsigned level = 1; level < database.depth; ++level) {
    const Page branch = page(number, PageKind::branch, named_at);
    std::uint32_t low = 0;  // the first node's key stands for "before everything"
    for (std::uint32_t high = branch.count; high - low > 1;) {
      const std::uint32_t middle = low + (high - low) / 2;
      (compare_keys(branch_node(branch, middle).key, key) <= 0 ? low : high) = middle;
    }
    const BranchNode node = branch_node(branch, low);
    named_at = offset_of(branch.number) + node.offset;
    number = node.child;
  }
  const Page leaf = page(number, PageKind::leaf, named_at);
  std::uint32_t low = 0;
  for (std::uint32_t high = leaf.count; low < high;) {
    const std::uint32_t middle = low + (high - low) / 2;
    const LeafNode node = leaf_node(leaf, middle);
    const int order = compare_keys(node.key, key);
    if (order == 0) return node;
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::nullopt;
}

}  // namespace imgpack::lmdb
