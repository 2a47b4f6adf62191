// A packed dataset as a training program sees it: opened once, shared by loaders and threads.
//
//   auto data = imgpack::Dataset::open("imagenet.rec");
//   std::vector<std::int64_t> labels = data.labels(data.select("val"));
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "imgpack/store.h"

namespace imgpack {

/// Records [begin, end).
struct RecordRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t size() const noexcept { return end - begin; }
  bool operator==(const RecordRange&) const = default;
};

/// An image in memory: height x width x 3, uint8, no padding.
struct DecodedImage {
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::vector<std::uint8_t> pixels;
};

/// A handle to an open store, cheap to copy. Thread-safe, also in a child after fork(): all functions are const.
class Dataset {
 public:
  /// Any format, a glob, a manifest, or the name of shards. Throws what open_store throws.
  static Dataset open(const std::filesystem::path& path);
  explicit Dataset(std::shared_ptr<const StoreReader> store);

  const StoreReader& store() const noexcept { return *store_; }
  const std::filesystem::path& path() const noexcept { return store_->path(); }
  const DatasetInfo& info() const noexcept { return store_->info(); }
  std::uint64_t size() const noexcept { return store_->size(); }

  /// The ranges of a split in the order of the file, all records for "". Throws not_found, naming the splits there are.
  std::vector<RecordRange> select(std::string_view split) const;
  /// Labels of the ranges, one after the other. Throws damaged.
  std::vector<std::int64_t> labels(std::span<const RecordRange> ranges) const;

  /// The whole image of a record, as Pillow's convert("RGB") shows it. Throws invalid_argument, damaged (with file,
  /// record and offset), unsupported, out_of_memory for more than `max_pixels`.
  DecodedImage decode(std::uint64_t record, std::uint64_t max_pixels = kDefaultMaxPixels) const;

  /// Equal for datasets of equal content (keys, labels, splits, checksums) in whatever format, if they are cut into the
  /// same shards. Costs nothing for datasets that store their content digest; else reads the index once.
  std::uint64_t fingerprint() const;

 private:
  std::shared_ptr<const StoreReader> store_;
};

}  // namespace imgpack
