// What a dataset's index, and a look at some of its JPEG files, tell about it as a whole.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "imgpack/build.h"
#include "imgpack/store.h"

namespace imgpack::tools {

struct Extent {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t most = 0;
  void add(std::uint64_t value);
};

/// Counts by size: bucket i is for values from kLimits[i] up to, but not, kLimits[i + 1]; the last has no end.
struct SideHistogram {
  static constexpr std::array<std::uint32_t, 13> kLimits = {1,   32,  64,  128,  224,  256, 320,
                                                            384, 512, 768, 1024, 2048, 4096};
  std::array<std::uint64_t, kLimits.size()> counts{};
  void add(std::uint32_t side);
};

struct Overview {
  std::map<Codec, std::uint64_t> codecs;
  Extent width;
  Extent height;
  Extent bytes;
  SideHistogram shorter_side;
  DecodePaths paths;
  std::uint64_t unlabelled = 0;
  std::vector<std::uint64_t> class_records;  ///< by label
  /// Of some JPEG records, evenly spread: "4:2:0", "gray", "progressive", ... and how many were looked at.
  std::map<std::string, std::uint64_t> jpeg_kinds;
  std::uint64_t jpegs_looked_at = 0;
};

/// Reads the index twice, and the headers of at most `most_jpegs` payloads. Memory: a number a class. Throws what the
/// store throws about damage in its index; damaged payloads are a kind of their own.
Overview look_over(const StoreReader& store, std::uint64_t most_jpegs);

}  // namespace imgpack::tools
