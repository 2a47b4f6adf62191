// Measurements of single stages of loading a packed dataset; stage.h tells what each is.
#pragma once

#include <cstdint>

#include "measure/measurement.h"
#include "measure/packed_images.h"

namespace imgpack::measure {

/// What images come to, by their index entries.
struct ImageTotals {
  std::uint64_t payload_bytes = 0;
  std::uint64_t jpegs = 0;
};
ImageTotals count_images(const PackedImages& images);

/// Whether the file systems of all files can read past the page cache. Opens them.
bool reads_past_cache(const PackedImages& images);
/// Payloads in random order, past the page cache, by options.threads threads. Files whose file system can't do that are
/// evicted first, and read once. Throws damaged, io, not_found.
MeasureRun measure_disk(const PackedImages& images, const MeasureOptions& options, std::uint64_t seed);
/// Payloads in random order from the mapped files. Throws damaged.
MeasureRun measure_memory(const PackedImages& images, const MeasureOptions& options, std::uint64_t seed);
/// Huffman decoding of whole JPEGs, as an index is made; those that can have none (progressive ones, ...) do not count.
/// REQUIRES: there are JPEGs. Throws damaged.
MeasureRun measure_entropy(const PackedImages& images, const MeasureOptions& options, std::uint64_t seed);

}  // namespace imgpack::measure
