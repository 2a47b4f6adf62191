#include "formats/lmdb/recovery.h"

#include <optional>

#include "formats/lmdb/container.h"
#include "formats/lmdb/tree_walk.h"
#include "formats/record_log.h"
#include "imgpack/error.h"
#include "mmap/little_endian.h"
#include "mmap/mapped_file.h"
#include "mmap/publish.h"

namespace imgpack::lmdb {

namespace {

std::uint64_t count_rows(const File& log) {
  std::uint64_t rows = 0;
  RecordLogReader reader(log);
  for (auto kind = reader.next(); kind != RecordLogReader::Kind::end; kind = reader.next()) {
    if (kind == RecordLogReader::Kind::record) ++rows;
  }
  return rows;
}

/// Compares the main database with the log, record by record.
class CompareWithLog final : public TreeVisitor {
 public:
  CompareWithLog(const PageReader& pages, const MappedFile& map, const File& log, unsigned key_digits)
      : pages_(pages), release_(map), log_(log), key_digits_(key_digits) {}

  void visit_entry(const LeafNode& node, const Value& value) override {
    if ((node.flags & kNodeDatabase) != 0) {
      databases.push_back(database_of(pages_, node));
      return;
    }
    const LogRow& row = next_row(node);
    const bool same = compare_keys(node.key, RecordKey(records, key_digits_).bytes()) == 0 &&
                      row.meta.payload_size == value.bytes.size() &&
                      row.meta.checksum == record_checksum(value.bytes, row.segments);
    if (!same) pages_.damaged(node.file_offset, "the payload is not the one that the log promises");
    ++records;
    release_.advance(value.offset);
  }

  std::uint64_t records = 0;
  std::vector<Database> databases;  ///< the named ones

 private:
  const LogRow& next_row(const LeafNode& node) {
    for (auto kind = log_.next(); kind != RecordLogReader::Kind::end; kind = log_.next()) {
      if (kind == RecordLogReader::Kind::record) return log_.record();
    }
    pages_.damaged(node.file_offset, "the file has a record that the log does not have");
  }

  const PageReader& pages_;
  ReleaseBehind release_;
  RecordLogReader log_;
  unsigned key_digits_;
};

/// Structure alone, which is what liblmdb relies on.
class CheckStructure final : public TreeVisitor {
 public:
  bool wants_value(const LeafNode&) const override { return false; }
  void visit_entry(const LeafNode&, const Value&) override {}
};

class ClaimFreePages final : public TreeVisitor {
 public:
  ClaimFreePages(const PageReader& pages, PageSet& used) : pages_(pages), used_(used) {}

  void visit_entry(const LeafNode& node, const Value& value) override {
    const std::span<const std::byte> numbers = free_page_numbers(pages_, value);
    for (std::size_t at = 0; at < numbers.size(); at += sizeof(std::uint64_t)) {
      const auto number = load_le<std::uint64_t>(numbers.data() + at);
      if (!used_.claim(number, 1)) pages_.damaged(node.file_offset, "a page is free and in use");
    }
  }

 private:
  const PageReader& pages_;
  PageSet& used_;
};

/// Throws damaged if the snapshot cannot be kept.
Recovered check_snapshot(const MappedFile& map, const Meta& meta, const File& log, unsigned key_digits) {
  const PageReader pages(map.bytes(), map.path(), meta);
  PageSet used(meta.last_page + 1);
  used.claim(0, kMetaPages);
  CompareWithLog payloads(pages, map, log, key_digits);
  walk_tree(pages, meta.main, TreeOrder::appended, used, payloads);
  for (const Database& database : payloads.databases) {
    CheckStructure structure;
    walk_tree(pages, database, TreeOrder::appended, used, structure);
  }
  ClaimFreePages free_pages(pages, used);
  walk_tree(pages, meta.free_list, TreeOrder::free_list, used, free_pages);
  return {.records = payloads.records, .index_begun = !payloads.databases.empty()};
}

/// Makes the older snapshot the newest one: liblmdb wants two meta pages and takes that with the higher number.
void forget_newest(const std::filesystem::path& path, const Meta& newest, Meta older) {
  const std::uint64_t page = newest.transaction % kMetaPages;
  --older.transaction;
  File file = File::open(path, File::Mode::read_write);
  file.write_at(page * newest.page_size(), encode_meta_page(older, page));
}

std::optional<Recovered> try_recover(const std::filesystem::path& path, const File& log, unsigned key_digits) {
  const std::uint64_t rows = count_rows(log);
  const MappedFile map = MappedFile::open(path, Access::sequential);
  const std::vector<Meta> metas = usable_metas(map.bytes());
  if (metas.size() != kMetaPages) return std::nullopt;  // liblmdb opens no file with a damaged meta page
  for (std::size_t i = 0; i < metas.size(); ++i) {
    // Payloads are committed a little before the log is flushed. The largest number of named databases is 5.
    if (metas[i].main.entries > rows + 5) continue;
    if (i > 0 && metas[i].transaction == 0) continue;
    try {
      const Recovered kept = check_snapshot(map, metas[i], log, key_digits);
      if (i > 0) forget_newest(path, metas[0], metas[i]);
      return kept;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::damaged) throw;
    }
  }
  return std::nullopt;
}

}  // namespace

Recovered recover_file(const std::filesystem::path& path, const File& log, unsigned key_digits) {
  try {
    if (const std::optional<Recovered> kept = try_recover(path, log, key_digits)) return *kept;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::damaged && error.code() != ErrorCode::not_found) throw;
  }
  remove_quietly(path);
  return {};
}

}  // namespace imgpack::lmdb
