#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "formats/checksum.h"
#include "formats/shards.h"
#include "imgpack/error.h"
#include "mmap/little_endian.h"
#include "mmap/paths.h"

namespace imgpack {

namespace fs = std::filesystem;

namespace {

class ShardedStore final : public StoreReader {
 public:
  ShardedStore(fs::path name, std::vector<std::unique_ptr<StoreReader>> shards)
      : name_(std::move(name)), shards_(std::move(shards)) {
    begins_.push_back(0);
    for (const auto& shard : shards_) begins_.push_back(begins_.back() + shard->size());
    join_infos();
  }

  Format format() const noexcept override { return shards_.front()->format(); }
  const fs::path& path() const noexcept override { return name_; }
  std::uint64_t size() const noexcept override { return begins_.back(); }
  const DatasetInfo& info() const noexcept override { return info_; }

  RecordMeta meta(std::uint64_t record) const override {
    const auto [shard, local] = locate(record);
    return shard->meta(local);
  }
  std::string_view key(std::uint64_t record) const override {
    const auto [shard, local] = locate(record);
    return shard->key(local);
  }
  RecordBytes bytes(std::uint64_t record) const override {
    const auto [shard, local] = locate(record);
    return shard->bytes(local);
  }
  std::span<const std::byte> field(std::uint64_t record, std::size_t field) const override {
    const auto [shard, local] = locate(record);
    return shard->field(local, field);
  }
  PayloadPlace place(std::uint64_t record) const override {
    const auto [shard, local] = locate(record);
    return shard->place(local);
  }

  std::vector<std::span<const std::byte>> mappings() const override {
    std::vector<std::span<const std::byte>> all;
    for (const auto& shard : shards_) {
      for (const std::span<const std::byte> mapping : shard->mappings()) all.push_back(mapping);
    }
    return all;
  }

  std::optional<std::uint64_t> find(std::string_view key) const override {
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      if (const auto found = shards_[i]->find(key)) return begins_[i] + *found;
    }
    return std::nullopt;
  }

  void prefetch_entry(std::uint64_t record) const noexcept override {
    if (record >= size()) return;
    const auto [shard, local] = locate(record);
    shard->prefetch_entry(local);
  }
  void prefetch(std::uint64_t first, std::uint64_t count) const override {
    for_each_part(first, count,
                  [](const StoreReader& shard, std::uint64_t begin, std::uint64_t n) { shard.prefetch(begin, n); });
  }
  void release(std::uint64_t first, std::uint64_t count) const override {
    for_each_part(first, count,
                  [](const StoreReader& shard, std::uint64_t begin, std::uint64_t n) { shard.release(begin, n); });
  }
  std::span<const std::unique_ptr<StoreReader>> parts() const noexcept override { return shards_; }
  void check_container(DamageSink& sink) const override {
    for (const auto& shard : shards_) shard->check_container(sink);
  }

 private:
  std::pair<const StoreReader*, std::uint64_t> locate(std::uint64_t record) const {
    if (record >= size()) {
      throw Error(ErrorCode::invalid_argument, fmt::format("there are only {} records", size()),
                  {.file = name_.string(), .record = record, .offset = std::nullopt});
    }
    const auto after = std::upper_bound(begins_.begin(), begins_.end(), record);
    const auto index = static_cast<std::size_t>(after - begins_.begin()) - 1;
    return {shards_[index].get(), record - begins_[index]};
  }

  template <typename Visit>
  void for_each_part(std::uint64_t first, std::uint64_t count, Visit&& visit) const {
    const std::uint64_t end = first < size() ? first + std::min(count, size() - first) : first;
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      const std::uint64_t begin = std::max(first, begins_[i]);
      const std::uint64_t stop = std::min(end, begins_[i + 1]);
      if (begin < stop) visit(*shards_[i], begin - begins_[i], stop - begin);
    }
  }

  void join_infos() {
    info_ = shards_.front()->info();
    info_.splits.clear();
    info_.left_out.clear();
    info_.records = info_.payload_bytes = info_.pixels = info_.content_digest = 0;
    info_.left_out_count = info_.ignored_count = 0;
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      const DatasetInfo& other = shards_[i]->info();
      if (other.classes != info_.classes || other.fields != info_.fields) {
        throw Error(ErrorCode::damaged,
                    fmt::format("its {} differ from those of {}", other.classes != info_.classes ? "classes" : "fields",
                                shards_.front()->path().string()),
                    in_file(shards_[i]->path()));
      }
      join_transform(other.transform);
      info_.records += other.records;
      info_.payload_bytes += other.payload_bytes;
      info_.pixels += other.pixels;
      info_.left_out_count += other.left_out_count;
      info_.ignored_count += other.ignored_count;
      std::byte link[16];
      store_le(link, info_.content_digest);
      store_le(link + 8, other.content_digest);
      info_.content_digest = checksum_of(link);
      for (const LeftOut& item : other.left_out) {
        if (info_.left_out.size() < DatasetInfo::kMaxLeftOut) info_.left_out.push_back(item);
      }
      for (const Split& split : other.splits) add_split(split, begins_[i]);
    }
  }

  /// What holds for some files only is "mixed".
  void join_transform(const std::map<std::string, std::string>& other) {
    for (auto& [key, value] : info_.transform) {
      const auto found = other.find(key);
      if (found == other.end() || found->second != value) value = "mixed";
    }
    for (const auto& [key, value] : other) info_.transform.try_emplace(key, "mixed");
  }

  /// Ranges of one split that meet at a shard's edge become one.
  void add_split(const Split& split, std::uint64_t shift) {
    const std::uint64_t begin = split.begin + shift;
    if (!info_.splits.empty() && info_.splits.back().name == split.name && info_.splits.back().end == begin) {
      info_.splits.back().end = split.end + shift;
    } else {
      info_.splits.push_back({.name = split.name, .begin = begin, .end = split.end + shift});
    }
  }

  fs::path name_;
  std::vector<std::unique_ptr<StoreReader>> shards_;
  std::vector<std::uint64_t> begins_;  ///< first record of each shard, and the total
  DatasetInfo info_;
};

}  // namespace

std::unique_ptr<StoreReader> make_sharded_store(const fs::path& name,
                                                std::vector<std::unique_ptr<StoreReader>> shards) {
  if (shards.empty()) {
    throw Error(ErrorCode::not_found, "there are no files", in_file(name));
  }
  return std::make_unique<ShardedStore>(name, std::move(shards));
}

}  // namespace imgpack
