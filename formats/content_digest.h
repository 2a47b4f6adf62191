// DatasetInfo::content_digest: what makes two datasets the same to a training program, in one number.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "imgpack/dataset_info.h"

namespace imgpack {

/// Chained XXH3-64: one link a record (previous link, XXH3-128 of the key, label, checksum), then one a split range
/// (link, begin, end, name). Equal in every format and for every way of building the same records.
class ContentDigest {
 public:
  void add(std::string_view key, std::int64_t label, std::uint64_t checksum) noexcept;
  std::uint64_t value(const std::vector<Split>& splits) const;

 private:
  std::uint64_t chain_ = 0;
};

}  // namespace imgpack
