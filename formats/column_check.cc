// ColumnTable::check: the key lookup table against the keys.
#include <fmt/format.h>

#include "formats/columns.h"
#include "formats/key_slices.h"
#include "imgpack/error.h"

namespace imgpack {

namespace {

constexpr std::uint64_t kReleaseEvery = 1u << 18;  // records

class KeyOrderCheck {
 public:
  KeyOrderCheck(const ColumnTable& table, DamageSink& sink) : table_(table), sink_(sink) {}

  void run() {
    try {
      visit_key_slices(
          table_.records(), [this](std::uint64_t record) { return key(record); },
          [this](const std::vector<HashedRecord>& expected) { return compare(expected); });
    } catch (const Error& error) {
      report(error.place().record, error.message());
    }
  }

 private:
  bool report(std::optional<std::uint64_t> record, std::string what) {
    return sink_.report(
        {.file = table_.file().string(), .record = record, .offset = std::nullopt, .what = std::move(what)});
  }

  std::string_view key(std::uint64_t record) {
    if (record != 0 && record % kReleaseEvery == 0) table_.release(record - kReleaseEvery, kReleaseEvery);
    return table_.key(record);
  }

  bool compare(const std::vector<HashedRecord>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i, ++position_) {
      if (position_ % kReleaseEvery == 0 && position_ != 0) {
        table_.release_key_order(position_ - kReleaseEvery, kReleaseEvery);
      }
      const std::uint64_t record = expected[i].record;
      if (i > 0 && expected[i].hash == expected[i - 1].hash &&
          !report(record, fmt::format("its key is that of record {}", expected[i - 1].record))) {
        return false;
      }
      if (table_.key_order(position_) == record) continue;
      report(record, "the key lookup table does not name it where its key belongs");
      return false;  // this finding stands for all that follow from it
    }
    return true;
  }

  const ColumnTable& table_;
  DamageSink& sink_;
  std::uint64_t position_ = 0;
};

}  // namespace

void ColumnTable::check(DamageSink& sink) const {
  KeyOrderCheck(*this, sink).run();
}

}  // namespace imgpack
