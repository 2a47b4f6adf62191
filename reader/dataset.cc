#include "imgpack/dataset.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "codec/decode.h"
#include "codec/other/other_image.h"
#include "formats/content_digest.h"
#include "imgpack/error.h"
#include "mmap/paths.h"
#include "reader/record_error.h"

namespace imgpack {

namespace {

std::string split_names(const DatasetInfo& info) {
  std::vector<std::string> names;
  for (const Split& split : info.splits) {
    if (std::find(names.begin(), names.end(), split.name) == names.end()) names.push_back(split.name);
  }
  return names.empty() ? "it has no splits" : fmt::format("it has {}", fmt::join(names, ", "));
}

}  // namespace

Dataset Dataset::open(const std::filesystem::path& path) {
  return Dataset(open_store(path));
}

Dataset::Dataset(std::shared_ptr<const StoreReader> store) : store_(std::move(store)) {
  if (store_ == nullptr) throw Error(ErrorCode::invalid_argument, "a dataset needs a store");
}

std::vector<RecordRange> Dataset::select(std::string_view split) const {
  if (split.empty()) return {{.begin = 0, .end = size()}};
  std::vector<RecordRange> ranges;
  for (const Split& candidate : info().splits) {
    if (candidate.name != split) continue;
    if (candidate.begin > candidate.end || candidate.end > size()) {
      throw Error(ErrorCode::damaged,
                  fmt::format("split {} is records {} to {} of {}", split, candidate.begin, candidate.end, size()),
                  in_file(path()));
    }
    ranges.push_back({.begin = candidate.begin, .end = candidate.end});
  }
  if (ranges.empty()) {
    throw Error(ErrorCode::not_found, fmt::format("there is no split {}; {}", split, split_names(info())),
                in_file(path()));
  }
  return ranges;
}

std::vector<std::int64_t> Dataset::labels(std::span<const RecordRange> ranges) const {
  std::vector<std::int64_t> labels;
  for (const RecordRange& range : ranges) {
    for (std::uint64_t record = range.begin; record < range.end; ++record) labels.push_back(store_->meta(record).label);
  }
  return labels;
}

DecodedImage Dataset::decode(std::uint64_t record, std::uint64_t max_pixels) const {
  const RecordMeta meta = store_->meta(record);
  if (const ImageResult size = check_image_size(meta, max_pixels); !size.ok())
    throw record_error(*store_, record, size);
  DecodedImage image{.height = meta.height, .width = meta.width, .pixels = {}};
  image.pixels.resize(std::size_t{meta.width} * meta.height * RgbImage::kChannels);
  ImageDecoder decoder(&decode_other_image, max_pixels);
  const RgbView out{image.pixels.data(), meta.width, meta.height, std::size_t{meta.width} * RgbImage::kChannels};
  const ImageResult result = decoder.decode(meta, store_->bytes(record), {0, 0, meta.width, meta.height}, out);
  if (!result.ok()) throw record_error(*store_, record, result);
  return image;
}

std::uint64_t Dataset::fingerprint() const {
  if (info().content_digest != 0) return info().content_digest;
  ContentDigest digest;
  for (std::uint64_t record = 0; record < size(); ++record) {
    const RecordMeta meta = store_->meta(record);
    digest.add(store_->key(record), meta.label, meta.checksum);
  }
  return digest.value(info().splits);
}

}  // namespace imgpack
