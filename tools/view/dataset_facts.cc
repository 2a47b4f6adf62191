#include "tools/view/dataset_facts.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "formats/parallel_blocks.h"
#include "imgpack/error.h"
#include "tools/view/record_check.h"

namespace imgpack::tools {

namespace {

constexpr std::uint64_t kBlockRecords = 32;
/// Gray records are worth a word while at most one in so many is gray.
constexpr std::uint64_t kGrayAmong = 10;
/// A class is small if it has less than the median divided by this.
constexpr std::uint64_t kSmallAgainstMedian = 10;

template <class Key>
void add_counts(std::map<Key, std::uint64_t>& to, const std::map<Key, std::uint64_t>& from) {
  for (const auto& [key, count] : from) to[key] += count;
}

template <class Numbers>
void add_numbers(Numbers& to, const Numbers& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

void merge(DatasetFacts& to, DatasetFacts&& from) {
  to.records += from.records;
  to.payload_bytes += from.payload_bytes;
  to.pixels += from.pixels;
  add_numbers(to.split_records, from.split_records);
  add_numbers(to.class_records, from.class_records);
  add_counts(to.codecs, from.codecs);
  add_counts(to.jpeg_kinds, from.jpeg_kinds);
  add_numbers(to.orientations, from.orientations);
  to.indexed += from.indexed;
  add_counts(to.unindexed, from.unindexed);
  to.decoded += from.decoded;
  to.gray += from.gray;
  to.width.merge(from.width);
  to.height.merge(from.height);
  to.aspect.merge(from.aspect);
  to.bytes.merge(from.bytes);
  to.findings.merge(std::move(from.findings));
}

/// What one thread works with.
struct Worker {
  Worker(const Collection& collection, const FactsOptions& options)
      : facts(collection, options.most_listed), checker(options.max_pixels) {}

  DatasetFacts facts;
  RecordChecker checker;
  std::vector<PayloadHash> hashes;
};

void count_index(DatasetFacts& facts, const Collection& collection, std::uint64_t record, const RecordMeta& meta) {
  const std::size_t split = collection.split_of(record).value_or(collection.splits().size());
  const std::size_t item = collection.class_of(record, meta).value_or(collection.classes().size());
  ++facts.split_records[split];
  ++facts.class_records[item * facts.split_columns() + split];
  ++facts.codecs[meta.codec];
  facts.payload_bytes += meta.payload_size;
  facts.pixels += std::uint64_t{meta.width} * meta.height;
  facts.width.add(meta.width);
  facts.height.add(meta.height);
  if (meta.height != 0) facts.aspect.add(static_cast<double>(meta.width) / meta.height);
  facts.bytes.add(static_cast<double>(meta.payload_size));
  if (meta.segments_size != 0) ++facts.indexed;
}

void judge_size(Findings& findings, std::uint64_t record, const RecordMeta& meta) {
  const std::uint32_t shorter = std::min(meta.width, meta.height);
  const std::uint32_t longer = std::max(meta.width, meta.height);
  if (shorter < kTinySide) {
    findings.add(Suspicion::tiny, {record, fmt::format("only {}x{} pixels", meta.width, meta.height)});
  }
  if (std::uint64_t{shorter} * kExtremeAspect < longer) {
    const double ratio = static_cast<double>(longer) / std::max<std::uint32_t>(1, shorter);
    findings.add(Suspicion::extreme_aspect, {record, fmt::format("{}x{} pixels: one side is {:.1f} times the other",
                                                                 meta.width, meta.height, ratio)});
  }
}

void count_content(DatasetFacts& facts, std::uint64_t record, const RecordMeta& meta, RecordCheck check) {
  if (!check.jpeg_kind.empty()) ++facts.jpeg_kinds[check.jpeg_kind];
  if (check.whole) ++facts.orientations[static_cast<std::size_t>(check.orientation)];
  if (meta.segments_size == 0) ++facts.unindexed[check.unindexed.empty() ? "it is damaged" : check.unindexed];
  if (!check.damage.empty()) {
    facts.findings.add(Suspicion::damaged, {record, std::move(check.damage)});
    return;
  }
  if (!check.incomplete.empty()) facts.findings.add(Suspicion::incomplete, {record, std::move(check.incomplete)});
  if (!check.not_decoded.empty()) {
    facts.findings.add(Suspicion::not_decoded, {record, std::move(check.not_decoded)});
    return;
  }
  ++facts.decoded;
  if (!check.gray) return;
  ++facts.gray;
  facts.findings.add(Suspicion::gray, {record, meta.channels < 3 ? "it has one channel, nearly all others have colour"
                                                                 : "it has colour channels, but no colour in them"});
}

void look_at(Worker& worker, const Collection& collection, std::uint64_t record) {
  DatasetFacts& facts = worker.facts;
  ++facts.records;
  std::optional<RecordMeta> meta;
  try {
    meta = collection.meta(record);
    count_index(facts, collection, record, *meta);
    judge_size(facts.findings, record, *meta);
    collection.key(record);
    const RecordBytes bytes = collection.bytes(record);
    worker.hashes.push_back({record_checksum(bytes.payload, {}), record});
    count_content(facts, record, *meta, worker.checker.check(*meta, bytes));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::damaged) throw;
    if (meta && meta->segments_size == 0) ++facts.unindexed["it is damaged"];
    facts.findings.add(Suspicion::damaged, {record, error.message()});
  }
}

/// A damaged index may hide a record's class: such a record then is not selected.
bool is_selected(const Collection& collection, std::uint64_t record) {
  try {
    return collection.selected(record);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::damaged) throw;
    return false;
  }
}

class Gathering {
 public:
  Gathering(const Collection& collection, const FactsOptions& options) : collection_(collection), options_(options) {}

  /// All facts but those that need all records at once.
  DatasetFacts run(std::vector<PayloadHash>& hashes) {
    parallel_blocks(collection_.size(), kBlockRecords, options_.threads,
                    [this](std::uint64_t begin, std::uint64_t end) {
                      std::unique_ptr<Worker> worker = take_worker();
                      for (std::uint64_t record = begin; record < end; ++record) {
                        if (is_selected(collection_, record)) look_at(*worker, collection_, record);
                      }
                      collection_.release(begin, end);
                      const std::lock_guard lock(mutex_);
                      idle_.push_back(std::move(worker));
                      done_ += end - begin;
                      if (options_.progress && !options_.progress(done_, collection_.size())) {
                        throw Error(ErrorCode::invalid_argument, "cancelled");
                      }
                    });
    DatasetFacts facts(collection_, options_.most_listed);
    for (std::unique_ptr<Worker>& worker : idle_) {
      merge(facts, std::move(worker->facts));
      hashes.insert(hashes.end(), worker->hashes.begin(), worker->hashes.end());
      worker.reset();
    }
    return facts;
  }

 private:
  std::unique_ptr<Worker> take_worker() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Worker> worker = std::move(idle_.back());
        idle_.pop_back();
        return worker;
      }
    }
    return std::make_unique<Worker>(collection_, options_);
  }

  const Collection& collection_;
  const FactsOptions& options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
  std::uint64_t done_ = 0;
};

Duplicates duplicates_in(const Collection& collection, std::vector<PayloadHash>& hashes, std::size_t most_listed) {
  return find_duplicates(
      hashes, [&](std::uint64_t record) { return collection.split_of(record); },
      [&](std::uint64_t record) { return collection.class_of(record, collection.meta(record)); }, most_listed);
}

/// Classes without any record count only if the whole dataset is looked at.
void find_small_classes(const Collection& collection, std::size_t most_listed, DatasetFacts& facts) {
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i < collection.classes().size(); ++i) sizes.push_back(facts.class_count(i));
  if (sizes.size() < 2) return;
  std::vector<std::uint64_t> sorted = sizes;
  std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2));
  const std::uint64_t median = sorted[sorted.size() / 2];
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool empty = sizes[i] == 0 && collection.whole();
    const bool small = sizes[i] != 0 && sizes[i] * kSmallAgainstMedian < median;
    if (!empty && !small) continue;
    ++facts.small_class_count;
    if (facts.small_classes.size() == most_listed) continue;
    facts.small_classes.push_back(
        {i, sizes[i], empty ? "no record has it" : fmt::format("{} against a median of {} a class", sizes[i], median),
         std::nullopt});
  }
}

void find_examples(const Collection& collection, std::vector<SmallClass>& classes) {
  std::map<std::size_t, SmallClass*> wanted;
  for (SmallClass& item : classes) {
    if (item.records != 0) wanted.emplace(item.index, &item);
  }
  for (std::uint64_t record = 0; record < collection.size() && !wanted.empty(); ++record) {
    if (!is_selected(collection, record)) continue;
    try {
      const auto item = collection.class_of(record, collection.meta(record));
      const auto found = item ? wanted.find(*item) : wanted.end();
      if (found == wanted.end()) continue;
      found->second->example = record;
      wanted.erase(found);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::damaged) throw;
    }
  }
}

}  // namespace

DatasetFacts::DatasetFacts(const Collection& collection, std::size_t most_listed)
    : split_records(collection.splits().size() + 1, 0),
      class_records((collection.classes().size() + 1) * (collection.splits().size() + 1), 0),
      findings(most_listed) {}

std::uint64_t DatasetFacts::class_count(std::size_t index) const noexcept {
  const auto first = class_records.begin() + static_cast<std::ptrdiff_t>(index * split_columns());
  return std::accumulate(first, first + static_cast<std::ptrdiff_t>(split_columns()), std::uint64_t{0});
}

DatasetFacts gather_facts(const Collection& collection, const FactsOptions& options) {
  std::vector<PayloadHash> hashes;
  DatasetFacts facts = Gathering(collection, options).run(hashes);
  facts.duplicates = duplicates_in(collection, hashes, options.most_listed);
  if (facts.gray * kGrayAmong > facts.decoded) facts.findings.clear(Suspicion::gray);
  find_small_classes(collection, options.most_listed, facts);
  find_examples(collection, facts.small_classes);
  return facts;
}

}  // namespace imgpack::tools
