// Packed datasets as sources: what convert, merge --copy and verify --source read from.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "formats/checksum.h"
#include "imgpack/error.h"
#include "imgpack/store.h"
#include "mmap/little_endian.h"
#include "packer/source.h"

namespace imgpack {

namespace {

std::string copy_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class PackedSource final : public Source {
 public:
  explicit PackedSource(std::unique_ptr<StoreReader> store) : store_(std::move(store)), info_(store_->info()) {
    ranges_ = std::exchange(info_.splits, {});
    for (const Split& range : ranges_) {
      const auto found = std::find_if(info_.splits.begin(), info_.splits.end(),
                                      [&](const Split& split) { return split.name == range.name; });
      range_splits_.push_back(static_cast<std::uint32_t>(found - info_.splits.begin()));
      if (found == info_.splits.end()) info_.splits.push_back({.name = range.name, .begin = 0, .end = 0});
    }
  }

  const DatasetInfo& info() const noexcept override { return info_; }
  std::uint64_t size() const noexcept override { return store_->size(); }

  void entry(std::uint64_t index, SourceEntry& entry) const override {
    entry.clear();
    entry.offset = index;
    try {
      const RecordMeta meta = store_->meta(index);
      entry.key = store_->key(index);
      entry.label = meta.label;
      entry.size = meta.payload_size;
      entry.split = split_of(index);
      for (std::size_t i = 0; i < info_.fields.size(); ++i) entry.fields.push_back(copy_text(store_->field(index, i)));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::damaged) throw;
      entry.problem = fmt::format("record {} is damaged: {}", index, error.message());
      if (entry.key.empty()) entry.key = fmt::format("record {}", index);
    }
  }

  SourceBytes read(const SourceEntry& entry, ByteBuffer&) const override {
    const RecordBytes bytes = store_->bytes(entry.offset);
    return {.payload = bytes.payload, .segments = bytes.segments};
  }

  std::optional<RecordMeta> packed_meta(const SourceEntry& entry) const override { return store_->meta(entry.offset); }

  std::uint64_t digest() const noexcept override {
    std::byte link[16];
    store_le(link, store_->info().content_digest);
    store_le(link + 8, store_->size());
    return checksum_of(link);
  }

  const std::vector<std::string>& warnings() const noexcept override { return warnings_; }

  void done_with(std::uint64_t first, std::uint64_t count) const override { store_->release(first, count); }

 private:
  std::uint32_t split_of(std::uint64_t record) const {
    const auto range = std::upper_bound(ranges_.begin(), ranges_.end(), record,
                                        [](std::uint64_t value, const Split& split) { return value < split.end; });
    if (range == ranges_.end()) return 0;
    return range_splits_[static_cast<std::size_t>(range - ranges_.begin())];
  }

  std::unique_ptr<StoreReader> store_;
  DatasetInfo info_;
  std::vector<Split> ranges_;
  std::vector<std::uint32_t> range_splits_;  ///< which of info_.splits each range belongs to
  std::vector<std::string> warnings_;
};

}  // namespace

std::unique_ptr<Source> open_packed_source(const std::filesystem::path& path) {
  return std::make_unique<PackedSource>(open_store(path));
}

}  // namespace imgpack
