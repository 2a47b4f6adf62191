#include "imgpack/verify.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include <fmt/format.h>

#include "formats/content_digest.h"
#include "formats/key_slices.h"
#include "formats/parallel_blocks.h"
#include "formats/text.h"
#include "imgpack/error.h"

namespace imgpack {

namespace {

constexpr std::uint64_t kBlockRecords = 256;
constexpr std::uint64_t kStretchRecords = 1u << 16;
static_assert(kStretchRecords % kBlockRecords == 0);

class Findings final : public DamageSink {
 public:
  explicit Findings(std::size_t limit) : limit_(limit) {}

  bool report(Damage damage) override {
    const std::lock_guard lock(mutex_);
    ++count_;
    if (kept_.size() < limit_) kept_.push_back(std::move(damage));
    return true;
  }

  void move_into(VerifyReport& report) {
    report.damage_count = count_;
    report.damage = std::move(kept_);
    std::sort(report.damage.begin(), report.damage.end(), [](const Damage& a, const Damage& b) {
      return std::tie(a.file, a.record, a.offset, a.what) < std::tie(b.file, b.record, b.offset, b.what);
    });
  }

 private:
  std::mutex mutex_;
  std::size_t limit_;
  std::uint64_t count_ = 0;
  std::vector<Damage> kept_;
};

void report_at(DamageSink& sink, const StoreReader& store, std::optional<std::uint64_t> record, std::string what) {
  sink.report({.file = store.path().string(), .record = record, .offset = std::nullopt, .what = std::move(what)});
}

void report_error(DamageSink& sink, const StoreReader& store, std::uint64_t record, const Error& error) {
  sink.report({.file = error.place().file.empty() ? store.path().string() : error.place().file,
               .record = record,
               .offset = error.place().offset,
               .what = error.message()});
}

/// Checks one record's own promises; returns the payload bytes that were compared.
std::uint64_t check_record(const StoreReader& store, std::uint64_t record, DamageSink& sink) {
  try {
    const RecordMeta meta = store.meta(record);
    const RecordBytes bytes = store.bytes(record);
    if (record_checksum(bytes.payload, bytes.segments) != meta.checksum) {
      const PayloadPlace place = store.place(record);
      sink.report({.file = place.file->string(),
                   .record = record,
                   .offset = place.offset,
                   .what = "its bytes do not have its checksum"});
    }
    const auto classes = static_cast<std::int64_t>(store.info().classes.size());
    if (meta.label < kNoLabel || (classes != 0 && meta.label >= classes)) {
      report_at(sink, store, record, fmt::format("its label {} is not one of the {} classes", meta.label, classes));
    }
    const std::string_view key = store.key(record);
    if (key.size() > kMaxKeyBytes || !is_utf8(key)) report_at(sink, store, record, "its key is too long or not UTF-8");
    return bytes.payload.size();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::damaged) throw;
    report_error(sink, store, record, error);
    return 0;
  }
}

/// Gives back memory behind threads that work on blocks of neighbouring records: what one has given back, another may
/// map again while it is at work next to it. So whole stretches are given back once more when all in them is done.
class StretchRelease {
 public:
  explicit StretchRelease(const StoreReader& store) : store_(store) {}

  /// [begin, end), which lies in one stretch, is done. Not thread-safe.
  void done(std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t stretch = begin / kStretchRecords * kStretchRecords;
    const std::uint64_t size = std::min(kStretchRecords, store_.size() - stretch);
    if ((done_[stretch] += end - begin) < size) return;
    done_.erase(stretch);
    store_.release(stretch, size);
  }

 private:
  const StoreReader& store_;
  std::map<std::uint64_t, std::uint64_t> done_;  ///< records by stretch; as many stretches as threads are in
};

/// Checks all records of one file; returns the payload bytes that were compared.
std::uint64_t check_records(const StoreReader& store, const VerifyOptions& options, std::uint64_t done_before,
                            std::uint64_t total, DamageSink& sink) {
  std::mutex mutex;
  std::uint64_t payload_bytes = 0;
  std::uint64_t done = done_before;
  StretchRelease stretches(store);
  parallel_blocks(store.size(), kBlockRecords, options.threads, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t bytes = 0;
    for (std::uint64_t record = begin; record < end; ++record) bytes += check_record(store, record, sink);
    store.release(begin, end - begin);
    const std::lock_guard lock(mutex);
    payload_bytes += bytes;
    done += end - begin;
    stretches.done(begin, end);
    if (options.progress && !options.progress(done, total)) throw Error(ErrorCode::invalid_argument, "cancelled");
  });
  return payload_bytes;
}

/// Counts, ranges and digest of the dataset's description against its records. Needs no payloads.
void check_description(const StoreReader& store, DamageSink& sink) {
  const DatasetInfo& info = store.info();
  std::uint64_t payload_bytes = 0;
  std::uint64_t pixels = 0;
  ContentDigest digest;
  try {
    for (std::uint64_t record = 0; record < store.size(); ++record) {
      const RecordMeta meta = store.meta(record);
      payload_bytes += meta.payload_size;
      pixels += std::uint64_t{meta.width} * meta.height;
      digest.add(store.key(record), meta.label, meta.checksum);
      if ((record + 1) % kStretchRecords == 0) store.release(record + 1 - kStretchRecords, kStretchRecords);
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::damaged) throw;
    return;  // reported with its record already
  }
  const auto expect = [&](bool good, std::string_view what) {
    if (!good)
      report_at(sink, store, std::nullopt, fmt::format("the description's {} is not that of the records", what));
  };
  expect(info.records == store.size(), "number of records");
  expect(info.payload_bytes == payload_bytes, "number of payload bytes");
  expect(info.pixels == pixels, "number of pixels");
  expect(info.content_digest == digest.value(info.splits), "content digest");
  std::uint64_t end = 0;
  for (const Split& split : info.splits) {
    expect(split.begin == end, "list of splits");
    end = split.end;
  }
  expect(info.splits.empty() || end == store.size(), "list of splits");
}

void check_duplicate_keys(const StoreReader& store, DamageSink& sink) {
  const auto key_of = [&](std::uint64_t record) { return store.key(record); };
  try {
    visit_key_slices(store.size(), key_of, [&](const std::vector<HashedRecord>& entries) {
      for (std::size_t i = 1; i < entries.size(); ++i) {
        if (entries[i].hash != entries[i - 1].hash) continue;
        report_at(sink, store, entries[i].record, fmt::format("its key is that of record {}", entries[i - 1].record));
      }
      return true;
    });
  } catch (const Error& error) {
    if (error.code() != ErrorCode::damaged) throw;  // reported by the file's own check
  }
}

}  // namespace

VerifyReport verify(const StoreReader& store, const VerifyOptions& options) {
  VerifyReport report;
  Findings findings(options.max_damage);
  const auto verify_file = [&](const StoreReader& file) {
    file.check_container(findings);
    report.payload_bytes += check_records(file, options, report.records, store.size(), findings);
    check_description(file, findings);
    report.records += file.size();
  };
  if (store.parts().empty()) {
    verify_file(store);
  } else {
    for (const auto& part : store.parts()) verify_file(*part);
    check_duplicate_keys(store, findings);
  }
  findings.move_into(report);
  return report;
}

VerifyReport verify(const std::filesystem::path& path, const VerifyOptions& options) {
  try {
    return verify(*open_store(path), options);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::damaged) throw;
    VerifyReport report;
    report.damage_count = 1;
    report.damage.push_back({.file = error.place().file.empty() ? path.string() : error.place().file,
                             .record = error.place().record,
                             .offset = error.place().offset,
                             .what = error.message()});
    return report;
  }
}

}  // namespace imgpack
