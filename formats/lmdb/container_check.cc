#include "formats/lmdb/container_check.h"

#include <algorithm>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "formats/columns.h"
#include "formats/lmdb/canonical.h"
#include "formats/lmdb/tree_walk.h"
#include "imgpack/error.h"
#include "mmap/little_endian.h"

namespace imgpack::lmdb {

namespace {

struct StopChecking {};

/// Collects what a check of one file shares: where damage goes, which pages are in use, what was seen.
class Report {
 public:
  Report(const PageReader& pages, DamageSink& sink) : pages_(pages), sink_(sink) {}

  void damage(std::uint64_t offset, std::string what, std::optional<std::uint64_t> record = std::nullopt) {
    found_ = true;
    if (!sink_.report({.file = pages_.path().string(), .record = record, .offset = offset, .what = std::move(what)})) {
      throw StopChecking{};
    }
  }
  void damage(const Error& error, std::optional<std::uint64_t> record = std::nullopt) {
    damage(error.place().offset.value_or(0), error.message(), record);
  }
  bool found() const noexcept { return found_; }

 private:
  const PageReader& pages_;
  DamageSink& sink_;
  bool found_ = false;
};

/// Checks each page's unused bytes; entries are for derived classes.
class CheckedTree : public TreeVisitor {
 public:
  CheckedTree(const PageReader& pages, const std::function<void()>& release, Report& report)
      : pages_(pages), release_(release), report_(report) {}

  void visit_page(const Page& page) override {
    touch();
    if (const std::optional<std::size_t> at = non_canonical_byte(pages_, page, ranges_)) {
      report_.damage(pages_.offset_of(page.number) + *at, "bytes of the page that carry nothing are not in order");
    }
  }

  void visit_entry(const LeafNode& node, const Value& value) override {
    if (value.overflow_pages != 0) check_overflow(node, value);
    check_entry(node, value);
  }

  void visit_damage(const Error& error) override { report_.damage(error, record_at_damage()); }

 protected:
  virtual void check_entry(const LeafNode& node, const Value& value) = 0;
  virtual std::optional<std::uint64_t> record_at_damage() const { return std::nullopt; }
  /// The free list may keep pages that its shrunken entry no longer needs.
  virtual bool exact_overflow() const { return true; }

  const PageReader& pages_;
  const std::function<void()>& release_;
  Report& report_;

 private:
  void touch() {
    // A touched page makes the kernel map its neighbours too: 64 KiB each time.
    if (++touched_ % 1024 == 0) release_();
  }

  void check_overflow(const LeafNode& node, const Value& value) {
    touch();
    const std::uint64_t at = pages_.offset_of(value.overflow_page);
    if (load_le<std::uint16_t>(pages_.file().data() + at + 8) != 0) {
      report_.damage(at + 8, "unused bytes of an overflow page's header are not zero");
    }
    if (exact_overflow() && value.overflow_pages != overflow_pages_for(node.value_size, pages_.page_size())) {
      report_.damage(at + 12, "a value has more overflow pages than it needs");
    }
    const std::uint64_t end = at + value.overflow_pages * pages_.page_size();
    for (std::uint64_t i = value.offset + value.bytes.size(); i < end; ++i) {
      if (pages_.file()[i] != std::byte{0}) {
        report_.damage(i, "bytes behind a value are not zero");
        return;
      }
    }
  }

  std::uint64_t touched_ = 0;
  std::vector<NodeRange> ranges_;
};

/// The list of free pages: each one unused and zero.
class CheckFreeList final : public CheckedTree {
 public:
  CheckFreeList(const PageReader& pages, const std::function<void()>& release, Report& report, PageSet& used)
      : CheckedTree(pages, release, report), used_(used) {}

 protected:
  bool exact_overflow() const override { return false; }

  void check_entry(const LeafNode& node, const Value& value) override {
    if (load_le<std::uint64_t>(node.key.data()) > pages_.meta().transaction) {
      report_.damage(node.file_offset, "the free list has an entry from the future");
    }
    const std::span<const std::byte> numbers = free_page_numbers(pages_, value);
    for (std::size_t at = 0; at < numbers.size(); at += sizeof(std::uint64_t)) {
      check_free_page(load_le<std::uint64_t>(numbers.data() + at), value.offset + sizeof(std::uint64_t) + at);
    }
    const std::span<const std::byte> rest = value.bytes.subspan(sizeof(std::uint64_t) + numbers.size());
    if (std::any_of(rest.begin(), rest.end(), [](std::byte b) { return b != std::byte{0}; })) {
      report_.damage(value.offset, "bytes behind an entry of the free list are not zero");
    }
  }

 private:
  void check_free_page(std::uint64_t number, std::uint64_t named_at) {
    const std::span<const std::byte> page = pages_.raw_page(number, named_at);
    if (!used_.claim(number, 1)) pages_.damaged(named_at, fmt::format("page {} is free and in use", number));
    const auto bad = std::find_if(page.begin(), page.end(), [](std::byte b) { return b != std::byte{0}; });
    if (bad != page.end()) {
      report_.damage(pages_.offset_of(number) + static_cast<std::uint64_t>(bad - page.begin()),
                     "a free page is not zero");
    }
  }

  PageSet& used_;
};

/// Payloads, numbered without a hole, then the named databases.
class CheckMain final : public CheckedTree {
 public:
  CheckMain(const Container& container, const std::function<void()>& release, Report& report)
      : CheckedTree(container.pages(), release, report), container_(container) {}

 protected:
  std::optional<std::uint64_t> record_at_damage() const override {
    return next_ < container_.records() ? std::optional(next_) : std::nullopt;
  }

  void check_entry(const LeafNode& node, const Value&) override {
    if ((node.flags & kNodeDatabase) != 0) {
      check_name(text_of(node.key), node.file_offset);
      return;
    }
    if (next_ >= container_.records()) {
      report_.damage(node.file_offset, "the main database has an entry that is no record");
      return;
    }
    const RecordKey expected(next_, container_.key_digits());
    if (compare_keys(node.key, expected.bytes()) != 0) {
      report_.damage(node.file_offset, "the record has not the number that comes next", next_);
    }
    ++next_;
  }

 private:
  void check_name(std::string_view name, std::uint64_t at) {
    constexpr std::string_view kNames[] = {kKeysName, kLookupName, kMetaName, kRecordsName, kSegmentsName};
    if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames)) {
      report_.damage(at, "the file has a named database that imgpack does not write");
    }
  }

  const Container& container_;
  std::uint64_t next_ = 0;
};

/// A named database: its digest, and that entries that count records do so without a hole.
class CheckNamed : public CheckedTree {
 public:
  CheckNamed(const Container& container, const std::function<void()>& release, Report& report)
      : CheckedTree(container.pages(), release, report), container_(container) {}
  std::uint64_t digest() const noexcept { return digest_.value(); }

 protected:
  void check_entry(const LeafNode& node, const Value& value) override {
    digest_.add(node.key, value.bytes);
    if ((node.flags & kNodeDatabase) != 0) pages_.damaged(node.file_offset, "an entry is a database");
    check_named(node, value);
  }
  virtual void check_named(const LeafNode&, const Value&) {}

  /// REQUIRES: entries are visited in order. Reports and returns false if the key is not that of record `next`.
  bool check_number(const LeafNode& node, std::uint64_t next) {
    if (next < container_.records() &&
        compare_keys(node.key, RecordKey(next, container_.key_digits()).bytes()) == 0) {
      return true;
    }
    report_.damage(node.file_offset, "an entry has not the record number that comes next", next);
    return false;
  }

  const Container& container_;

 private:
  EntryDigest digest_;
};

class CheckRows final : public CheckNamed {
 public:
  using CheckNamed::CheckNamed;
  std::uint64_t payload_bytes = 0;
  std::uint64_t pixels = 0;
  std::uint64_t with_segments = 0;
  std::uint64_t segments_fingerprint = 0;

 protected:
  std::optional<std::uint64_t> record_at_damage() const override { return next_; }

  void check_named(const LeafNode& node, const Value& value) override {
    const std::uint64_t record = next_++;
    if (!check_number(node, record)) return;
    const std::optional<Row> row = parse_row(value.bytes, container_.info().fields);
    if (!row) {
      report_.damage(value.offset, "the record's row is not valid", record);
      return;
    }
    const RecordMeta& meta = row->meta;
    if (meta.label < kNoLabel) report_.damage(value.offset, "the record's label is impossible", record);
    check_payload_size(meta.payload_size, record);
    payload_bytes += meta.payload_size;
    pixels += std::uint64_t{meta.width} * meta.height;
    if (meta.segments_size != 0) {
      ++with_segments;
      segments_fingerprint += pair_fingerprint(meta.segments_size, record);
    }
  }

 private:
  void check_payload_size(std::uint64_t size, std::uint64_t record) {
    try {
      const std::optional<LeafNode> node =
          pages_.find(pages_.meta().main, RecordKey(record, container_.key_digits()).bytes());
      if (node && node->value_size == size) return;
      report_.damage(node ? node->file_offset : 0, "the payload's size is not what the row says", record);
    } catch (const Error& error) {
      report_.damage(error, record);
    }
  }

  std::uint64_t next_ = 0;
};

class CheckKeys final : public CheckNamed {
 public:
  using CheckNamed::CheckNamed;
  std::uint64_t fingerprint = 0;

 protected:
  std::optional<std::uint64_t> record_at_damage() const override { return next_; }

  void check_named(const LeafNode& node, const Value& value) override {
    const std::uint64_t record = next_++;
    if (!check_number(node, record)) return;
    if (value.bytes.size() > kMaxKeyBytes) report_.damage(node.file_offset, "the record's key is too long", record);
    fingerprint += pair_fingerprint(hash_key(text_of(value.bytes)).high, record);
  }

 private:
  std::uint64_t next_ = 0;
};

class CheckLookup final : public CheckNamed {
 public:
  using CheckNamed::CheckNamed;
  std::uint64_t numbers = 0;
  std::uint64_t fingerprint = 0;

 protected:
  void check_named(const LeafNode& node, const Value& value) override {
    constexpr std::size_t kNumber = sizeof(std::uint64_t);
    if (node.key.size() != kNumber || value.bytes.empty() || value.bytes.size() % kNumber != 0) {
      pages_.damaged(node.file_offset, "a lookup entry is not valid");
    }
    std::uint64_t high = 0;
    for (const std::byte byte : node.key) high = high << 8 | static_cast<std::uint64_t>(byte);
    for (std::size_t at = 0; at < value.bytes.size(); at += kNumber) {
      fingerprint += pair_fingerprint(high, load_le<std::uint64_t>(value.bytes.data() + at));
      ++numbers;
    }
  }
};

class CheckSegments final : public CheckNamed {
 public:
  using CheckNamed::CheckNamed;
  std::uint64_t count = 0;
  std::uint64_t fingerprint = 0;

 protected:
  void check_named(const LeafNode& node, const Value& value) override {
    std::uint64_t record = 0;
    for (const std::byte byte : node.key) record = record * 10 + (static_cast<std::uint64_t>(byte) - '0');
    if (record >= container_.records() ||
        compare_keys(node.key, RecordKey(record, container_.key_digits()).bytes()) != 0) {
      pages_.damaged(node.file_offset, "a segment index belongs to no record");
    }
    fingerprint += pair_fingerprint(value.bytes.size(), record);
    ++count;
  }
};

class CheckMeta final : public CheckNamed {
 public:
  using CheckNamed::CheckNamed;
  std::string dataset_digest;
  std::string layout_digest;
  nlohmann::json digests;
  std::uint64_t digests_offset = 0;

 protected:
  void check_named(const LeafNode& node, const Value& value) override {
    const std::string_view key = text_of(node.key);
    if (key == kDatasetKey) {
      dataset_digest = digest_text(checksum_of(value.bytes));
    } else if (key == kLayoutKey) {
      layout_digest = digest_text(checksum_of(value.bytes));
    } else if (key == kDigestsKey) {
      digests = nlohmann::json::parse(text_of(value.bytes), nullptr, false);
      digests_offset = value.offset;
      if (!digests.is_object() || digests.dump() != text_of(value.bytes)) {
        report_.damage(value.offset, "the digests are not valid");
      }
    } else {
      report_.damage(node.file_offset, fmt::format("{} has an entry that imgpack does not write", kMetaName));
    }
  }
};

/// One run over one file.
class Check {
 public:
  Check(const Container& container, const std::function<void()>& release, DamageSink& sink)
      : container_(container),
        pages_(container.pages()),
        release_(release),
        report_(pages_, sink),
        used_(pages_.meta().last_page + 1) {
    used_.claim(0, kMetaPages);
  }

  void run() {
    check_meta_pages();
    CheckMain main(container_, release_, report_);
    walk("the main database", pages_.meta().main, TreeOrder::appended, main);
    check_named();
    CheckFreeList free_list(pages_, release_, report_, used_);
    walk("the free list", pages_.meta().free_list, TreeOrder::free_list, free_list);
    // After other damage pages are missing because what names them could not be read.
    if (!report_.found()) check_all_pages_used();
  }

 private:
  void check_meta_pages() {
    const Meta& live = pages_.meta();
    if (pages_.file().size() != live.file_size()) {
      report_.damage(live.file_size(), "the file does not end with its last page");
    }
    for (std::uint64_t number = 0; number < kMetaPages; ++number) {
      const std::vector<std::byte> expected = encode_meta_page(canonical_meta(live, number), number);
      const std::uint64_t begin = pages_.offset_of(number);
      const std::span<const std::byte> page = pages_.file().subspan(begin, expected.size());
      const auto difference = std::mismatch(page.begin(), page.end(), expected.begin()).first;
      if (difference != page.end()) {
        report_.damage(begin + static_cast<std::uint64_t>(difference - page.begin()), "a meta page is damaged");
      }
    }
    if (live.free_list.flags != (kIntegerKey | kNoSubdir)) report_.damage(0, "the meta pages have unknown flags");
  }

  template <typename Visitor>
  void walk(std::string_view name, const Database& database, TreeOrder order, Visitor& visitor) {
    const TreeCounts counts = walk_tree(pages_, database, order, used_, visitor);
    const std::uint64_t at = database.root == kNoPage ? 0 : pages_.offset_of(database.root);
    if (counts.branch_pages != database.branch_pages || counts.leaf_pages != database.leaf_pages ||
        counts.overflow_pages != database.overflow_pages || counts.entries != database.entries) {
      report_.damage(at, fmt::format("the counts of {} are wrong", name));
    }
    release_();
  }

  template <typename Visitor>
  void walk_named(std::string_view name, const Database& database, Visitor& visitor) {
    if (database.pad != 0) report_.damage(0, fmt::format("the description of {} is damaged", name));
    walk(name, database, TreeOrder::appended, visitor);
    computed_[std::string(name)] = digest_text(visitor.digest());
  }

  void check_named() {
    const NamedDatabases& databases = container_.databases();
    CheckRows rows(container_, release_, report_);
    walk_named(kRecordsName, databases.records, rows);
    CheckKeys keys(container_, release_, report_);
    walk_named(kKeysName, databases.keys, keys);
    CheckLookup lookup(container_, release_, report_);
    walk_named(kLookupName, databases.lookup, lookup);
    if (lookup.numbers != container_.records() || lookup.fingerprint != keys.fingerprint) {
      report_.damage(0, fmt::format("{} and {} do not agree", kLookupName, kKeysName));
    }
    CheckSegments segments(container_, release_, report_);
    if (databases.segments) walk_named(kSegmentsName, *databases.segments, segments);
    if (segments.count != rows.with_segments || segments.fingerprint != rows.segments_fingerprint) {
      report_.damage(0, "the segment indexes do not fit the records' rows");
    }
    CheckMeta meta(container_, release_, report_);
    walk(kMetaName, databases.meta, TreeOrder::appended, meta);
    if (databases.meta.pad != 0) report_.damage(0, fmt::format("the description of {} is damaged", kMetaName));
    computed_[std::string(kDatasetKey)] = meta.dataset_digest;
    computed_[std::string(kLayoutKey)] = meta.layout_digest;
    compare_digests(meta);
    const DatasetInfo& info = container_.info();
    if (rows.payload_bytes != info.payload_bytes || rows.pixels != info.pixels) {
      report_.damage(0, "the dataset's totals are not the sums of its records");
    }
  }

  void compare_digests(const CheckMeta& meta) {
    for (const auto& [name, digest] : computed_.items()) {
      if (!meta.digests.is_object() || !meta.digests.contains(name) || meta.digests[name] != digest) {
        report_.damage(meta.digests_offset, fmt::format("{} does not have the digest that was written", name));
      }
    }
    if (meta.digests.is_object() && meta.digests.size() != computed_.size()) {
      report_.damage(meta.digests_offset, "there are digests of databases that do not exist");
    }
  }

  void check_all_pages_used() {
    for (std::uint64_t page = 0; page < used_.pages(); ++page) {
      if (used_.contains(page)) continue;
      report_.damage(pages_.offset_of(page), fmt::format("page {} is neither used nor free", page));
      return;
    }
  }

  const Container& container_;
  const PageReader& pages_;
  const std::function<void()>& release_;
  Report report_;
  PageSet used_;
  nlohmann::json computed_;
};

}  // namespace

void check_container(const Container& container, const std::function<void()>& release, DamageSink& sink) {
  try {
    Check(container, release, sink).run();
  } catch (const StopChecking&) {
    // The sink has had enough.
  }
}

}  // namespace imgpack::lmdb
