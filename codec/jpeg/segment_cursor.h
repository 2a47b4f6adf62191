// A place in a scan that decoding moves along: from the beginning of a segment on, past the restart markers that are
// due. For host and device.
#pragma once

#include <cstdint>

#include "codec/host_device.h"
#include "codec/jpeg/bit_reader.h"
#include "codec/jpeg/segment_index.h"

namespace imgpack::jpeg {

struct SegmentCursor {
  BitReader reader;
  std::int16_t dc[kMaxComponents] = {};  ///< predictors
  std::uint32_t mcu = 0;                 ///< number of the next MCU in the image
  std::uint32_t until_restart = 0;       ///< MCUs up to the next restart marker; of no meaning without them

  /// Goes to the beginning of a segment. `scan` is the file's data from frame.scan_offset on, frame.scan_size bytes.
  /// False if the segment begins outside of it; then only `mcu` is set. REQUIRES: segment < index.segment_count().
  IMGPACK_HD bool begin(const SegmentIndex& index, const std::uint8_t* scan, std::uint32_t segment) {
    const Frame& frame = index.frame;
    const std::uint32_t per_row = index.segments_per_row();
    mcu = segment / per_row * frame.mcus_per_row() + segment % per_row * index.segment_mcus;
    const SegmentStart start = index.start(segment);
    if (start.bit / 8 > frame.scan_size) return false;
    reader = BitReader(scan, start.bit / 8, start.bit % 8, frame.scan_size);
    for (std::uint32_t c = 0; c < kMaxComponents; ++c) dc[c] = start.dc[c];
    if (frame.restart_interval != 0) until_restart = frame.restart_interval - mcu % frame.restart_interval;
    return true;
  }

  /// An MCU has been read.
  IMGPACK_HD void advance() {
    ++mcu;
    --until_restart;
  }

  /// Takes the restart marker that is due before `mcu`, if one is. False if it is not there.
  IMGPACK_HD bool pass_restart(std::uint32_t interval) {
    if (interval == 0 || until_restart != 0) return true;
    if (!reader.take_restart_marker(mcu / interval - 1)) return false;
    for (std::int16_t& predictor : dc) predictor = 0;
    until_restart = interval;
    return true;
  }

  /// Whether this is where a segment begins: at its position, with its predictors.
  IMGPACK_HD bool stands_at(const SegmentStart& start) const {
    bool same = reader.bit_position() == start.bit;
    for (std::uint32_t c = 0; c < kMaxComponents; ++c) same = same && dc[c] == start.dc[c];
    return same;
  }
};

}  // namespace imgpack::jpeg
