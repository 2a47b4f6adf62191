#include <algorithm>
#include <atomic>
#include <mutex>

#include <fmt/format.h>

#include "codec/image_header.h"
#include "formats/parallel_blocks.h"
#include "formats/text.h"
#include "imgpack/error.h"
#include "imgpack/verify.h"
#include "mmap/paths.h"
#include "packer/prepare.h"
#include "packer/source.h"

namespace imgpack {

namespace {

constexpr std::uint64_t kBlockEntries = 64;

class SourceComparison {
 public:
  SourceComparison(const StoreReader& store, const Source& source, const VerifyOptions& options)
      : store_(store), source_(source), options_(options), matched_(store.size()) {}

  SourceReport run() {
    parallel_blocks(source_.size(), kBlockEntries, options_.threads, [this](std::uint64_t begin, std::uint64_t end) {
      PreparedEntry prepared;
      EntryPreparer any_size(source_, {.max_pixels = kAnySize, .transform = {}});
      for (std::uint64_t i = begin; i < end; ++i) compare(i, any_size, prepared);
      source_.done_with(begin, end - begin);
      const std::lock_guard lock(mutex_);
      done_ += end - begin;
      if (options_.progress && !options_.progress(done_, source_.size())) {
        throw Error(ErrorCode::invalid_argument, "cancelled");
      }
    });
    for (std::uint64_t record = 0; record < store_.size(); ++record) {
      if (!matched_[record])
        add_damage(report_.extra_count, report_.extra, record,
                   fmt::format("the source has no '{}'", store_.key(record)));
    }
    sort_findings();
    return std::move(report_);
  }

 private:
  void compare(std::uint64_t index, EntryPreparer& any_size, PreparedEntry& prepared) {
    any_size.prepare(index, prepared);
    const SourceEntry& entry = prepared.entry;
    const std::optional<std::uint64_t> record = store_.find(entry.key);
    if (!record) {
      // Once more with the usual limit: what a build would have refused is not missing.
      EntryPreparer(source_, {.max_pixels = kDefaultMaxPixels, .transform = {}}).prepare(index, prepared);
      if (prepared.outcome == PreparedEntry::Outcome::record) {
        add_left_out(report_.missing_count, report_.missing, entry.key, "it is not in the dataset");
      } else {
        add_left_out(report_.left_out_count, report_.left_out, entry.key, prepared.reason);
      }
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      matched_[*record] = true;
    }
    std::string difference;
    try {
      difference = difference_of(*record, prepared);
      store_.release(*record, 1);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::damaged) throw;
      difference = error.message();
    }
    if (!difference.empty()) {
      add_damage(report_.different_count, report_.different, *record, fmt::format("'{}': {}", entry.key, difference));
      return;
    }
    const std::lock_guard lock(mutex_);
    ++report_.compared;
  }

  /// Empty if the record is what the source says.
  std::string difference_of(std::uint64_t record, const PreparedEntry& prepared) const {
    if (prepared.outcome != PreparedEntry::Outcome::record)
      return "the source's file can't be packed: " + prepared.reason;
    const RecordBytes bytes = store_.bytes(record);
    if (!std::ranges::equal(bytes.payload, prepared.bytes.payload)) return "its bytes are not the source's";
    if (class_name(store_.info(), store_.meta(record).label) != class_name(source_.info(), prepared.entry.label)) {
      return "its label is not the source's";
    }
    if (split_name(record) != source_split_name(prepared.entry)) return "its split is not the source's";
    // A source without fields says nothing about them: the folder that a manifest's paths lie in, for instance.
    if (prepared.entry.fields.empty()) return {};
    if (store_.info().fields != source_.info().fields) return "its fields are not the source's";
    for (std::size_t i = 0; i < prepared.entry.fields.size(); ++i) {
      const std::span<const std::byte> field = store_.field(record, i);
      const std::string_view text(reinterpret_cast<const char*>(field.data()), field.size());
      if (text != prepared.entry.fields[i])
        return fmt::format("its field '{}' is not the source's", store_.info().fields[i].name);
    }
    return {};
  }

  static std::string class_name(const DatasetInfo& info, std::int64_t label) {
    if (label < 0 || static_cast<std::size_t>(label) >= info.classes.size()) return fmt::format("{}", label);
    return info.classes[static_cast<std::size_t>(label)].name;
  }

  std::string_view split_name(std::uint64_t record) const {
    for (const Split& split : store_.info().splits) {
      if (record >= split.begin && record < split.end) return split.name;
    }
    return {};
  }

  std::string_view source_split_name(const SourceEntry& entry) const {
    const std::vector<Split>& splits = source_.info().splits;
    return entry.split < splits.size() ? std::string_view(splits[entry.split].name) : std::string_view();
  }

  void add_damage(std::uint64_t& count, std::vector<Damage>& list, std::uint64_t record, std::string what) {
    const std::lock_guard lock(mutex_);
    ++count;
    if (list.size() >= options_.max_damage) return;
    list.push_back({.file = store_.path().string(), .record = record, .offset = std::nullopt, .what = std::move(what)});
  }

  void add_left_out(std::uint64_t& count, std::vector<LeftOut>& list, std::string_view key, std::string_view reason) {
    const std::lock_guard lock(mutex_);
    ++count;
    if (list.size() < options_.max_damage) {
      list.push_back({.key = printable_utf8(key), .reason = printable_utf8(reason), .ignored = false});
    }
  }

  void sort_findings() {
    for (std::vector<Damage>* list : {&report_.different, &report_.extra}) {
      std::sort(list->begin(), list->end(), [](const Damage& a, const Damage& b) { return a.record < b.record; });
    }
    for (std::vector<LeftOut>* list : {&report_.missing, &report_.left_out}) {
      std::sort(list->begin(), list->end(), [](const LeftOut& a, const LeftOut& b) { return a.key < b.key; });
    }
  }

  static constexpr std::uint64_t kAnySize = ~std::uint64_t{0};  // the build's limit is not known here

  const StoreReader& store_;
  const Source& source_;
  const VerifyOptions& options_;
  std::mutex mutex_;
  std::uint64_t done_ = 0;
  std::vector<bool> matched_;
  SourceReport report_;
};

}  // namespace

SourceReport verify_source(const StoreReader& store, const std::filesystem::path& source,
                           const std::filesystem::path& work_dir, const VerifyOptions& options) {
  for (const auto& [option, value] : store.info().transform) {
    const bool keeps_bytes = (option == "encode" && value == "keep") || option == "index";
    if (keeps_bytes) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("it was packed with {} = {}: its bytes cannot be compared with a source's", option, value),
                in_file(store.path()));
  }
  const std::unique_ptr<Source> opened = open_source(source, {.work_dir = work_dir});
  return SourceComparison(store, *opened, options).run();
}

}  // namespace imgpack
