// The thumbnails of a report: which records get one, and the pictures themselves as data URIs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/view/collection.h"
#include "tools/view/dataset_facts.h"
#include "tools/view/record_choice.h"

namespace imgpack::tools {

struct Picture {
  std::string data_uri;  ///< a JPEG
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

/// By record number.
using Pictures = std::map<std::uint64_t, Picture>;

struct PicturePlan {
  std::vector<ShownGroup> samples;     ///< by class
  std::vector<std::uint64_t> records;  ///< all that get a picture, in order, each once
};

/// At most options.limit pictures: every kind of finding, duplicates and samples of the classes get equally many, as
/// far as there are; options.per_class bounds the samples. options.by is not looked at.
PicturePlan plan_pictures(const Collection& collection, const DatasetFacts& facts, ChoiceOptions options);

struct PictureOptions {
  std::uint32_t size = 128;  ///< of the longer side, pixels
  std::uint64_t max_pixels = kDefaultMaxPixels;
  unsigned threads = 0;
};

/// Records of which nothing can be shown have none.
Pictures make_pictures(const Collection& collection, const std::vector<std::uint64_t>& records,
                       const PictureOptions& options);

}  // namespace imgpack::tools
