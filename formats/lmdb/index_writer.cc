#include "formats/lmdb/index_writer.h"

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "formats/columns.h"
#include "formats/dataset_json.h"
#include "formats/key_sorter.h"
#include "formats/lmdb/canonical.h"
#include "formats/lmdb/row.h"
#include "imgpack/error.h"
#include "mmap/little_endian.h"
#include "mmap/paths.h"

namespace imgpack::lmdb {

namespace {

/// One database under construction: skips, after comparing them, entries that an interrupted run has committed.
class Target {
 public:
  Target(Appender& appender, const Environment& environment, std::string_view name)
      : appender_(appender), environment_(environment), name_(name), database_(appender.open(name)) {}

  void count_existing() { existing_ = appender_.entries(database_); }

  void add(std::span<const std::byte> key, std::span<const std::byte> value) {
    digest_.add(key, value);
    if (written_++ >= existing_) {
      appender_.append(database_, key, value);
    } else if (!appender_.has(database_, key, value)) {
      throw Error(ErrorCode::damaged,
                  fmt::format("what the interrupted build left in {} is damaged: build again without resuming", name_),
                  in_file(environment_.path()));
    }
  }
  /// Whether the next entry is to be written rather than compared.
  bool writes() const noexcept { return written_ >= existing_; }
  std::string digest() const { return digest_text(digest_.value()); }

 private:
  Appender& appender_;
  const Environment& environment_;
  std::string name_;
  MDB_dbi database_;
  std::uint64_t existing_ = 0;
  std::uint64_t written_ = 0;
  EntryDigest digest_;
};

class IndexWriter {
 public:
  IndexWriter(Environment& environment, const RecordLog& log, const DatasetInfo& info, unsigned key_digits)
      : environment_(environment),
        log_(log),
        info_(info),
        key_digits_(key_digits),
        appender_(environment),
        keys_(appender_, environment, kKeysName),
        lookup_(appender_, environment, kLookupName),
        meta_(appender_, environment, kMetaName),
        records_(appender_, environment, kRecordsName),
        sorter_(folder_of(environment.path())) {
    // Databases are made in the order of their names, in one transaction, so that the main database grows at its end
    // too.
    if (log.totals().segment_bytes > 0) segments_.emplace(appender_, environment, kSegmentsName);
    appender_.commit();
    for (Target* target : {&keys_, &lookup_, &meta_, &records_}) target->count_existing();
    if (segments_) segments_->count_existing();
  }

  void run() {
    write_rows();
    write_lookup();
    write_meta();
  }

 private:
  void write_rows() {
    std::uint64_t number = 0;
    std::vector<std::byte> row;
    RecordLogReader reader(log_.file());
    for (auto kind = reader.next(); kind != RecordLogReader::Kind::end; kind = reader.next()) {
      if (kind != RecordLogReader::Kind::record) continue;
      const LogRow& record = reader.record();
      encode_row(record, info_.fields, row);
      const RecordKey key(number, key_digits_);
      if (records_.writes()) appender_.begin_group(row.size() + record.key.size() + record.segments.size());
      records_.add(key.bytes(), row);
      keys_.add(key.bytes(), bytes_of(record.key));
      if (!record.segments.empty()) segments_->add(key.bytes(), record.segments);
      sorter_.add(hash_key(record.key), number++);
    }
    if (number != log_.records()) {
      throw Error(ErrorCode::damaged, "the build log lost rows while the index was written",
                  {.file = log_.file().path().string(), .record = number, .offset = reader.offset()});
    }
    appender_.commit();
  }

  void write_lookup() {
    std::optional<KeyHash> previous;
    std::uint64_t previous_number = 0;
    std::vector<std::byte> numbers;
    sorter_.visit([&](KeyHash hash, std::uint64_t number) {
      if (previous && *previous == hash) {
        throw Error(ErrorCode::refused, fmt::format("records {} and {} have the same key", previous_number, number));
      }
      if (previous && previous->high != hash.high) add_lookup(previous->high, numbers);
      append_le(numbers, number);
      previous = hash;
      previous_number = number;
    });
    if (previous) add_lookup(previous->high, numbers);
    appender_.commit();
  }

  void add_lookup(std::uint64_t hash_high, std::vector<std::byte>& numbers) {
    if (lookup_.writes()) appender_.begin_group(numbers.size());
    lookup_.add(lookup_key(hash_high), numbers);
    numbers.clear();
  }

  void write_meta() {
    const std::string dataset = dataset_info_to_json(info_);
    const std::string layout = nlohmann::json{{"key_digits", key_digits_}, {"version", kLayoutVersion}}.dump();
    nlohmann::json digests = {{kDatasetKey, digest_text(checksum_of(bytes_of(dataset)))},
                              {kLayoutKey, digest_text(checksum_of(bytes_of(layout)))},
                              {kKeysName, keys_.digest()},
                              {kLookupName, lookup_.digest()},
                              {kRecordsName, records_.digest()}};
    if (segments_) digests[std::string(kSegmentsName)] = segments_->digest();
    meta_.add(bytes_of(kDatasetKey), bytes_of(dataset));
    meta_.add(bytes_of(kDigestsKey), bytes_of(digests.dump()));
    meta_.add(bytes_of(kLayoutKey), bytes_of(layout));
    appender_.commit();
  }

  Environment& environment_;
  const RecordLog& log_;
  const DatasetInfo& info_;
  unsigned key_digits_;
  Appender appender_;
  Target keys_;
  Target lookup_;
  Target meta_;
  Target records_;
  std::optional<Target> segments_;
  KeySorter sorter_;
};

}  // namespace

void write_index(Environment& environment, const RecordLog& log, const DatasetInfo& info, unsigned key_digits) {
  IndexWriter(environment, log, info, key_digits).run();
}

}  // namespace imgpack::lmdb
