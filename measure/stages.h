// Measurements of single stages of loading a packed dataset; stage.h tells what each is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "imgpack/dataset.h"
#include "measure/measurement.h"
#include "measure/stage.h"

namespace imgpack::measure {

/// The images of a packed dataset or one of its splits. Thread-safe for const functions.
class PackedImages {
 public:
  /// Throws what Dataset::open() throws, not_found for a split that is not there, invalid_argument if it has no images.
  PackedImages(const std::string& name, const std::string& split);

  const StoreReader& store() const noexcept { return dataset_.store(); }
  std::uint64_t size() const noexcept { return size_; }
  /// Of image `index`, below size().
  std::uint64_t record(std::uint64_t index) const noexcept;
  std::uint64_t payload_bytes() const noexcept { return payload_bytes_; }
  std::uint64_t jpegs() const noexcept { return jpegs_; }

 private:
  Dataset dataset_;
  std::vector<RecordRange> ranges_;
  std::uint64_t size_ = 0;
  std::uint64_t payload_bytes_ = 0;
  std::uint64_t jpegs_ = 0;
};

/// Whether the file systems of all files can read past the page cache. Opens them.
bool reads_past_cache(const PackedImages& images);
/// Payloads in random order, past the page cache, by options.threads threads. Files whose file system can't do that are
/// evicted first, and read once. Throws damaged, io, not_found.
MeasureRun measure_disk(const PackedImages& images, const MeasureOptions& options, std::uint64_t seed);
/// Payloads in random order from the mapped files. Throws damaged.
MeasureRun measure_memory(const PackedImages& images, const MeasureOptions& options, std::uint64_t seed);
/// Huffman decoding of whole JPEGs, as an index is made; those that can have none (progressive ones, ...) do not count.
/// REQUIRES: images.jpegs() != 0. Throws damaged.
MeasureRun measure_entropy(const PackedImages& images, const MeasureOptions& options, std::uint64_t seed);

}  // namespace imgpack::measure
