// Small pictures of records.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "codec/image.h"
#include "tools/view/collection.h"

namespace imgpack::tools {

struct Thumbnail {
  RgbImage image;        ///< as much as decodes, on a gray ground; 0x0 if there is nothing to show
  std::string problem;   ///< why there is not all of it; empty if there is
  bool damaged = false;  ///< the problem is the record's, not that of this build or of max_pixels
};

/// Width and height with the longer side at most `side`; never larger than the image, at least 1.
Size thumbnail_size(Size image, std::uint32_t side);

/// Makes a thumbnail of each of `records`, on thread_count(threads) threads, and hands it to `take`, from one thread at
/// a time, with its place in `records`; in any order. Pixels are those that a loader would train on: EXIF orientation
/// is not applied. Memory: what decoding takes, for each thread. Throws what stop_if_interrupted() throws.
void make_thumbnails(const Collection& collection, std::span<const std::uint64_t> records, std::uint32_t side,
                     std::uint64_t max_pixels, unsigned threads,
                     const std::function<void(std::size_t, Thumbnail)>& take);

}  // namespace imgpack::tools
