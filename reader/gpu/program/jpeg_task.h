// What the device has to know of a JPEG image, and of which part of it, to decode it. Plain data for host and device.
//
// The part is a rectangle of MCUs, plan.columns x plan.rows. Its blocks lie in `coefficients` in the order of the scan,
// without gaps, 64 int16 each, column by column (x * 8 + y): the inverse DCT begins with columns. Its samples lie in a
// plane for each component.
#pragma once

#include <cstdint>

#include "codec/host_device.h"
#include "codec/jpeg/crop_plan.h"
#include "codec/jpeg/segment_index.h"
#include "reader/gpu/program/work.h"

namespace imgpack::gpu {

inline constexpr std::uint32_t kTablePairs = 2;  ///< pairs of DC and AC tables; more are left to the host
inline constexpr std::uint32_t kHuffmanBytes = jpeg::kHuffmanCounts + jpeg::kMaxHuffmanSymbols;

/// The file's tables, checked and copied by the host.
struct alignas(16) JpegTables {
  std::uint16_t quant[jpeg::kMaxComponents][jpeg::kBlockCoefficients];  ///< in the order of coefficients in memory
  std::uint8_t dc[kTablePairs][kHuffmanBytes];                          ///< counts, then symbols
  std::uint8_t ac[kTablePairs][kHuffmanBytes];
};

struct JpegPlane {
  std::uint8_t* samples = nullptr;  ///< of the part's first MCU; rows are `stride` apart
  std::uint32_t stride = 0;         ///< bytes, a multiple of 32
};

/// Found out about a segment before it is decoded.
struct SegmentInfo {
  std::uint32_t stream = 0;     ///< where its unstuffed bytes begin, in units of 16 bytes from JpegTask::streams
  std::uint32_t bits = 0;       ///< how many bits there are
  std::uint32_t end = 0;        ///< where decoding its whole must end, in bits
  std::uint32_t first_bit = 0;  ///< 0 to 7
  std::int16_t dc[jpeg::kMaxComponents] = {};      ///< predictors at its beginning
  std::int16_t end_dc[jpeg::kMaxComponents] = {};  ///< and what they must be at its end
  bool checks_end = false;                         ///< not for the image's last one, which ends anywhere
  /// Positions that make no sense, markers that do not belong there, ...: for the plain decoder, which knows all cases.
  bool unusual = false;
};

struct JpegTask {
  jpeg::SegmentIndex index;  ///< its entries are in device memory
  jpeg::CropPlan plan;
  /// Where byte 0 of the scan would be in device memory; bytes [scan_begin, scan_end) are there, and up to 16 that mean
  /// nothing around them.
  const std::uint8_t* scan = nullptr;
  std::uint32_t scan_begin = 0;
  std::uint32_t scan_end = 0;
  std::uint32_t first_segment = 0;    ///< number in a row, of the part's first segment
  std::uint32_t segments_in_row = 0;  ///< that the part needs of each row
  SegmentInfo* infos = nullptr;       ///< by segment of the part, row by row
  std::uint8_t* streams = nullptr;    ///< aligned to 16 bytes; until all segments are decoded
  std::int16_t* coefficients = nullptr;
  JpegPlane planes[jpeg::kMaxComponents];
  std::uint8_t table_pair[jpeg::kMaxComponents] = {};  ///< by component
  std::uint32_t sample = 0;                            ///< number in the batch
  JpegTables tables;

  IMGPACK_HD std::uint32_t columns() const { return plan.columns.end - plan.columns.first; }
  IMGPACK_HD std::uint32_t rows() const { return plan.rows.end - plan.rows.first; }
  IMGPACK_HD std::uint32_t segments() const { return segments_in_row * rows(); }
  IMGPACK_HD std::uint32_t blocks() const { return columns() * rows() * index.frame.blocks_per_mcu(); }
  /// Number in the image of segment `i` of the part.
  IMGPACK_HD std::uint32_t segment(std::uint32_t i) const {
    return (plan.rows.first + i / segments_in_row) * index.segments_per_row() + first_segment + i % segments_in_row;
  }
  /// Groups of up to four blocks side by side, of one component.
  IMGPACK_HD std::uint32_t block_groups(std::uint32_t c) const {
    const jpeg::Component& component = index.frame.components[c];
    return ceil_div(columns() * component.h, 4) * (rows() * component.v);
  }
};

}  // namespace imgpack::gpu
