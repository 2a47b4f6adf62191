// ColumnTable::check: the key lookup table against the keys.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "formats/columns.h"
#include "imgpack/error.h"

namespace imgpack {

namespace {

constexpr std::uint64_t kRecordsPerPass = 1u << 21;

struct HashedRecord {
  KeyHash hash;
  std::uint64_t record;
  auto operator<=>(const HashedRecord&) const = default;
};

/// Goes over all keys once for each slice of the hash space, so that the sorted order is rebuilt slice by slice without
/// a table of all records and without touching keys in random order.
class KeyOrderCheck {
 public:
  KeyOrderCheck(const ColumnTable& table, DamageSink& sink) : table_(table), sink_(sink) {
    const std::uint64_t slices = std::bit_ceil(std::max<std::uint64_t>(1, table.records() / kRecordsPerPass));
    slice_bits_ = std::countr_zero(slices);
  }

  void run() {
    const std::uint64_t slices = std::uint64_t{1} << slice_bits_;
    for (std::uint64_t slice = 0; slice < slices; ++slice) {
      if (!collect(slice) || !compare()) return;
    }
  }

 private:
  std::uint64_t slice_of(KeyHash hash) const { return slice_bits_ == 0 ? 0 : hash.high >> (64 - slice_bits_); }

  bool report(std::optional<std::uint64_t> record, std::string what) {
    return sink_.report(
        {.file = table_.file().string(), .record = record, .offset = std::nullopt, .what = std::move(what)});
  }

  bool collect(std::uint64_t slice) {
    expected_.clear();
    for (std::uint64_t record = 0; record < table_.records(); ++record) {
      try {
        const KeyHash hash = hash_key(table_.key(record));
        if (slice_of(hash) == slice) expected_.push_back({.hash = hash, .record = record});
      } catch (const Error& error) {
        report(record, error.message());
        return false;
      }
    }
    std::sort(expected_.begin(), expected_.end());
    return true;
  }

  bool compare() {
    for (std::size_t i = 0; i < expected_.size(); ++i, ++position_) {
      const std::uint64_t record = expected_[i].record;
      if (i > 0 && expected_[i].hash == expected_[i - 1].hash &&
          !report(record, fmt::format("its key is that of record {}", expected_[i - 1].record))) {
        return false;
      }
      try {
        if (table_.key_order(position_) == record) continue;
        report(record, "the key lookup table does not name it where its key belongs");
      } catch (const Error& error) {
        report(error.place().record, error.message());
      }
      return false;  // one such finding stands for all that follow from it
    }
    return true;
  }

  const ColumnTable& table_;
  DamageSink& sink_;
  int slice_bits_ = 0;
  std::uint64_t position_ = 0;
  std::vector<HashedRecord> expected_;
};

}  // namespace

void ColumnTable::check(DamageSink& sink) const {
  if (records() > 0) KeyOrderCheck(*this, sink).run();
}

}  // namespace imgpack
