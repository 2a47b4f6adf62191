#include "formats/lmdb/container_check.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "formats/lmdb/canonical.h"
#include "formats/lmdb/tree_checks.h"

namespace imgpack::lmdb {

namespace {

/// One run over one file.
class Check {
 public:
  Check(const Container& container, const std::function<void()>& release, DamageSink& sink)
      : container_(container),
        pages_(container.pages()),
        report_(pages_, sink),
        used_(pages_.meta().last_page + 1),
        context_{container, release, report_, used_} {
    used_.claim(0, kMetaPages);
  }

  void run() {
    check_meta_pages();
    CheckMain main(context_);
    walk("the main database", pages_.meta().main, TreeOrder::appended, main);
    check_named();
    CheckFreeList free_list(context_);
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
    context_.release();
  }

  template <typename Visitor>
  void walk_named(std::string_view name, const Database& database, Visitor& visitor) {
    if (database.pad != 0) report_.damage(0, fmt::format("the description of {} is damaged", name));
    walk(name, database, TreeOrder::appended, visitor);
    computed_[std::string(name)] = digest_text(visitor.digest());
  }

  void check_named() {
    const NamedDatabases& databases = container_.databases();
    CheckRows rows(context_);
    walk_named(kRecordsName, databases.records, rows);
    CheckKeys keys(context_);
    walk_named(kKeysName, databases.keys, keys);
    CheckLookup lookup(context_);
    walk_named(kLookupName, databases.lookup, lookup);
    if (lookup.numbers != container_.records() || lookup.fingerprint != keys.fingerprint) {
      report_.damage(0, fmt::format("{} and {} do not agree", kLookupName, kKeysName));
    }
    CheckSegments segments(context_);
    if (databases.segments) walk_named(kSegmentsName, *databases.segments, segments);
    if (segments.count != rows.with_segments || segments.fingerprint != rows.segments_fingerprint) {
      report_.damage(0, "the segment indexes do not fit the records' rows");
    }
    CheckMeta meta(context_);
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
  Report report_;
  PageSet used_;
  CheckContext context_;
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
