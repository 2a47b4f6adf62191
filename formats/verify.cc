#include "imgpack/verify.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <tuple>

#include <fmt/format.h>

#include "formats/content_digest.h"
#include "formats/key_slices.h"
#include "formats/text.h"
#include "imgpack/error.h"

namespace imgpack {

namespace {

constexpr std::uint64_t kBlockRecords = 256;

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

/// Goes through all records of one file on several threads.
class RecordPass {
 public:
  RecordPass(const StoreReader& store, const VerifyOptions& options, std::uint64_t done_before, std::uint64_t total,
             DamageSink& sink)
      : store_(store), options_(options), done_before_(done_before), total_(total), sink_(sink) {}

  std::uint64_t run() {
    const std::uint64_t blocks = (store_.size() + kBlockRecords - 1) / kBlockRecords;
    const unsigned wanted =
        options_.threads != 0 ? options_.threads : std::max(1u, std::thread::hardware_concurrency());
    const auto count = static_cast<unsigned>(std::min<std::uint64_t>(wanted, std::max<std::uint64_t>(1, blocks)));
    {
      std::vector<std::jthread> threads;
      for (unsigned i = 1; i < count; ++i) threads.emplace_back([this, blocks] { work(blocks); });
      work(blocks);
    }
    if (failure_) std::rethrow_exception(failure_);
    return payload_bytes_;
  }

 private:
  void work(std::uint64_t blocks) {
    try {
      while (!stop_) {
        const std::uint64_t block = next_block_++;
        if (block >= blocks) return;
        check_block(block);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      stop_ = true;
    }
  }

  void check_block(std::uint64_t block) {
    const std::uint64_t begin = block * kBlockRecords;
    const std::uint64_t end = std::min(begin + kBlockRecords, store_.size());
    std::uint64_t bytes = 0;
    for (std::uint64_t record = begin; record < end; ++record) bytes += check_record(store_, record, sink_);
    store_.release(begin, end - begin);
    const std::lock_guard lock(mutex_);
    payload_bytes_ += bytes;
    records_ += end - begin;
    if (options_.progress && !options_.progress(done_before_ + records_, total_)) {
      throw Error(ErrorCode::invalid_argument, "cancelled");
    }
  }

  const StoreReader& store_;
  const VerifyOptions& options_;
  std::uint64_t done_before_;
  std::uint64_t total_;
  DamageSink& sink_;
  std::atomic<std::uint64_t> next_block_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::uint64_t payload_bytes_ = 0;
  std::uint64_t records_ = 0;
};

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
      if (record % kBlockRecords == kBlockRecords - 1) store.release(record + 1 - kBlockRecords, kBlockRecords);
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
    report.payload_bytes += RecordPass(file, options, report.records, store.size(), findings).run();
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
