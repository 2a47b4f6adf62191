// The images of a packed dataset, or of one of its splits, as one sequence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "imgpack/dataset.h"

namespace imgpack::measure {

/// Thread-safe for const functions.
class PackedImages {
 public:
  /// Throws what Dataset::open() throws, and not_found for a split that is not there.
  PackedImages(const std::string& name, const std::string& split);

  const Dataset& dataset() const noexcept { return dataset_; }
  const StoreReader& store() const noexcept { return dataset_.store(); }
  std::uint64_t size() const noexcept { return size_; }
  /// The record of image `index`. Throws invalid_argument for one that is not below size().
  std::uint64_t record(std::uint64_t index) const;

 private:
  Dataset dataset_;
  std::vector<RecordRange> ranges_;
  std::uint64_t size_ = 0;
};

}  // namespace imgpack::measure
