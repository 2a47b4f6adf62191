#include "formats/lmdb/page_layout.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "formats/byte_reader.h"
#include "mmap/little_endian.h"

namespace imgpack::lmdb {

namespace {

bool sound(const Database& database, std::uint64_t last_page) {
  if (database.root == kNoPage) return database.depth == 0 && database.entries == 0;
  return database.root >= kMetaPages && database.root <= last_page && database.depth >= 1 &&
         database.depth <= kMaxDepth;
}

void append_database(std::vector<std::byte>& out, const Database& database) {
  append_le(out, database.pad);
  append_le(out, database.flags);
  append_le(out, database.depth);
  append_le(out, database.branch_pages);
  append_le(out, database.leaf_pages);
  append_le(out, database.overflow_pages);
  append_le(out, database.entries);
  append_le(out, database.root);
}

}  // namespace

Database parse_database(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  Database database;
  database.pad = in.read<std::uint32_t>();
  database.flags = in.read<std::uint16_t>();
  database.depth = in.read<std::uint16_t>();
  database.branch_pages = in.read<std::uint64_t>();
  database.leaf_pages = in.read<std::uint64_t>();
  database.overflow_pages = in.read<std::uint64_t>();
  database.entries = in.read<std::uint64_t>();
  database.root = in.read<std::uint64_t>();
  return database;
}

std::optional<Meta> parse_meta_page(std::span<const std::byte> bytes) {
  if (bytes.size() < kPageHeaderSize + kMetaSize) return std::nullopt;
  const auto flags = load_le<std::uint16_t>(bytes.data() + 10);
  if (flags != static_cast<std::uint16_t>(PageKind::meta)) return std::nullopt;
  ByteReader in(bytes.subspan(kPageHeaderSize, kMetaSize));
  if (in.read<std::uint32_t>() != kMagic || in.read<std::uint32_t>() != kVersion) return std::nullopt;
  in.read<std::uint64_t>();  // address of a fixed map
  Meta meta;
  meta.map_size = in.read<std::uint64_t>();
  meta.free_list = parse_database(in.take(kDatabaseSize));
  meta.main = parse_database(in.take(kDatabaseSize));
  meta.last_page = in.read<std::uint64_t>();
  meta.transaction = in.read<std::uint64_t>();

  const std::uint32_t page_size = meta.page_size();
  if (!std::has_single_bit(page_size) || page_size < kMinPageSize || page_size > kMaxPageSize) return std::nullopt;
  if (meta.last_page < kMetaPages - 1) return std::nullopt;
  if (meta.last_page >= std::numeric_limits<std::uint64_t>::max() / page_size) return std::nullopt;
  if (!sound(meta.free_list, meta.last_page) || !sound(meta.main, meta.last_page)) return std::nullopt;
  return meta;
}

std::vector<std::byte> encode_meta_page(const Meta& meta, std::uint64_t page_number) {
  std::vector<std::byte> out;
  append_le(out, page_number);
  append_le(out, std::uint16_t{0});
  append_le(out, static_cast<std::uint16_t>(PageKind::meta));
  append_le(out, std::uint32_t{0});
  append_le(out, kMagic);
  append_le(out, kVersion);
  append_le(out, std::uint64_t{0});
  append_le(out, meta.map_size);
  append_database(out, meta.free_list);
  append_database(out, meta.main);
  append_le(out, meta.last_page);
  append_le(out, meta.transaction);
  out.resize(meta.page_size());
  return out;
}

std::vector<Meta> usable_metas(std::span<const std::byte> file) {
  std::vector<Meta> metas;
  const auto add = [&](std::span<const std::byte> page) {
    const std::optional<Meta> meta = parse_meta_page(page);
    if (meta && meta->file_size() <= file.size()) metas.push_back(*meta);
  };
  add(file);
  // Where the second page is depends on the page size, which a damaged first page cannot tell: try each.
  for (std::uint32_t size = kMinPageSize; size <= kMaxPageSize && size < file.size(); size *= 2) {
    const std::optional<Meta> meta = parse_meta_page(file.subspan(size));
    if (!meta || meta->page_size() != size) continue;
    add(file.subspan(size));
    break;
  }
  std::stable_sort(metas.begin(), metas.end(),
                   [](const Meta& a, const Meta& b) { return a.transaction > b.transaction; });
  return metas;
}

}  // namespace imgpack::lmdb
