// From segments to samples: entropy decoding and inverse DCT of one row of MCUs at a time.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "codec/jpeg/block_pair_transform.h"
#include "codec/jpeg/crop_decoder.h"
#include "codec/jpeg/crop_plan.h"
#include "codec/jpeg/sample_rows.h"
#include "codec/jpeg/segment_cursor.h"
#include "codec/jpeg/tables.h"

namespace imgpack::jpeg {

/// Not thread-safe.
class McuRowDecoder {
 public:
  /// Sets up `samples` for the plan's columns. `file`, `index`, `cache` and `samples` must outlive the calls of
  /// decode().
  void start(std::span<const std::byte> file, const SegmentIndex& index, const CropPlan& plan, HuffmanCache& cache,
             std::array<SampleRows, kMaxComponents>& samples);
  /// The samples of MCU row `row`, columns of the plan. Adds what it finds to `report`.
  void decode(std::uint32_t row, DecodeReport& report);

 private:
  /// One block of an MCU.
  struct BlockPlan {
    const HuffmanTable* dc;
    const HuffmanTable* ac;
    const Dequantizer* dequantizer;
    std::uint32_t component;
    std::uint32_t x;  ///< blocks from the MCU's left edge
    std::uint32_t y;
  };

  bool skip_to(std::uint32_t column, SegmentCursor& cursor) const;
  /// Decodes MCUs of this row up to column `end`. False if the segment is damaged; then cursor.mcu is the bad MCU.
  bool decode_to(std::uint32_t end, SegmentCursor& cursor);
  bool decode_mcu(std::uint32_t column, SegmentCursor& cursor);
  void blank(std::uint32_t column, std::uint32_t end);
  BlockTarget target(const BlockPlan& block, std::uint32_t column);

  const std::uint8_t* scan_ = nullptr;
  const SegmentIndex* index_ = nullptr;
  CropPlan plan_;
  std::uint32_t mcus_per_row_ = 0;
  std::array<SampleRows, kMaxComponents>* samples_ = nullptr;
  ScanTables tables_;
  std::array<Dequantizer, kMaxComponents> dequantizers_;
  std::array<BlockPlan, kMaxBlocksInMcu> blocks_;
  std::uint32_t block_count_ = 0;
  std::uint32_t row_ = 0;
  /// Of the row in work, by component: its first sample row.
  std::array<std::uint8_t*, kMaxComponents> row_samples_{};
  BlockPairTransform sink_;
};

}  // namespace imgpack::jpeg
