// What the length of segments costs and brings: the size of the indexes, and how much of the segments that a crop
// touches lies beside it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/jpeg_sample.h"

namespace imgpack {

struct SegmentCurvePoint {
  std::string name;
  double index_percent = 0;  ///< size of all indexes, of the payloads'
  double mean_segments = 0;  ///< of an image
  std::uint32_t median_segments = 0;
  double mean_blocks = 0;  ///< of a segment
  /// Decoded for the crops, of all MCUs, in percent.
  double needed_percent = 0;
  /// Entropy-decoded only to get to the crop, of those needed, in percent: what the CPU wastes.
  double skipped_percent = 0;
  /// In touched segments but outside the crop, of those needed, in percent: what a thread for each segment wastes.
  double beside_percent = 0;
  double touched_percent = 0;  ///< segments, of all
  double seconds = 0;          ///< of CPU for all crops, each to 224x224
};

/// The default point is the one with the name "default".
std::vector<SegmentCurvePoint> measure_segment_curve(const JpegSample& sample, std::span<const SampleCrop> crops,
                                                     int rounds);

}  // namespace imgpack
