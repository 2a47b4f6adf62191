// The stages on the way from a packed dataset to a program that trains, and how many images a second each can do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "measure/statistics.h"

namespace imgpack::measure {

enum class Stage : std::uint8_t {
  disk,      ///< reading records past the page cache
  memory,    ///< reading records from the page cache
  entropy,   ///< Huffman decoding of JPEGs alone; a part of `cpu`
  cpu,       ///< batches made by CPU threads: reading from memory, decoding, augmenting
  copy,      ///< batches from host memory to the GPU, from memory that is not pinned
  pinned,    ///< the same from pinned memory
  gpu,       ///< batches made on a GPU
  consumer,  ///< the program that takes the batches
};
/// "disk", "memory", ...
std::string_view to_string(Stage stage) noexcept;

struct StageFigure {
  Stage stage = Stage::disk;
  Summary rates = {};          ///< images a second
  double bytes_per_image = 0;  ///< that the stage moves
  unsigned threads = 0;        ///< that worked; 0: it has none of its own
  std::string reason = {};     ///< why it was not measured, or a remark

  bool measured() const noexcept { return rates.count != 0; }
};

/// A rate that is known and not measured.
Summary known_rate(double images_per_second);

}  // namespace imgpack::measure
