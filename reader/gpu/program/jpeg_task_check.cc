#include "reader/gpu/program/jpeg_task_check.h"

#include <algorithm>
#include <vector>

namespace imgpack::gpu::testing {

namespace {

using jpeg::kBlockSize;

/// T.81 C.2: codes of each length, all ones left out, and no more symbols than there is room for.
bool is_prefix_code(const std::uint8_t* table) {
  std::uint32_t code = 0;
  std::uint32_t symbols = 0;
  for (std::uint32_t length = 1; length <= jpeg::kHuffmanCounts; ++length) {
    code = (code << 1) + table[length - 1];
    symbols += table[length - 1];
    if (code >= 1u << length) return false;
  }
  return symbols <= jpeg::kMaxHuffmanSymbols;
}

bool lies_in(std::span<const std::byte> inner, std::span<const std::byte> outer) {
  return inner.data() >= outer.data() && inner.data() + inner.size() <= outer.data() + outer.size();
}

std::string check_geometry(const JpegTask& task, const Rect& part) {
  const jpeg::SegmentIndex& index = task.index;
  const jpeg::Frame& frame = index.frame;
  const jpeg::McuRange& columns = task.plan.columns;
  const jpeg::McuRange& rows = task.plan.rows;
  if (columns.first >= columns.end || columns.end > frame.mcus_per_row()) return "columns are in the image";
  if (rows.first >= rows.end || rows.end > frame.mcu_rows()) return "rows are in the image";
  if (columns.first * frame.mcu_width() > part.x || columns.end * frame.mcu_width() < part.x + part.width ||
      rows.first * frame.mcu_height() > part.y || rows.end * frame.mcu_height() < part.y + part.height) {
    return "the MCUs cover the part";
  }
  const std::uint32_t segments_end = task.first_segment + task.segments_in_row;
  if (task.segments_in_row == 0 || segments_end > index.segments_per_row()) return "segments are in their row";
  if (task.first_segment * index.segment_mcus > columns.first || segments_end * index.segment_mcus < columns.end) {
    return "the segments cover the columns";
  }
  if ((task.first_segment + 1) * index.segment_mcus <= columns.first ||
      (segments_end - 1) * index.segment_mcus >= columns.end) {
    return "no segment lies beside the columns";
  }
  std::uint32_t before = 0;
  for (std::uint32_t i = 0; i < task.segments(); ++i) {
    const std::uint32_t segment = task.segment(i);
    if (segment >= index.segment_count() || (i > 0 && segment <= before)) return "segments exist, in rising order";
    before = segment;
  }
  return {};
}

std::string check_bytes(const JpegTask& task, const JpegBytes& needed, std::span<const std::byte> payload) {
  const jpeg::SegmentIndex& index = task.index;
  const jpeg::Frame& frame = index.frame;
  if (task.scan_begin >= task.scan_end || task.scan_end > frame.scan_size) return "the range is of the scan";
  const std::span<const std::byte> scan =
      payload.subspan(frame.scan_offset).first(frame.scan_size).subspan(task.scan_begin);
  if (needed.scan.data() != scan.data() || needed.scan.size() != task.scan_end - task.scan_begin ||
      !lies_in(needed.scan, payload)) {
    return "the needed bytes are that range";
  }
  if (reinterpret_cast<const std::uint8_t*>(needed.entries.data()) != index.entries ||
      needed.entries.size() != index.entries_size ||
      std::uint64_t{index.segment_count()} * index.entry_bits() > std::uint64_t{index.entries_size} * 8) {
    return "each segment has an entry";
  }
  if (index.start(task.segment(0)).bit / 8 != task.scan_begin) return "the range begins with the first segment";
  return {};
}

std::string check_tables(const JpegTask& task) {
  const jpeg::Frame& frame = task.index.frame;
  for (std::uint32_t c = 0; c < frame.component_count; ++c) {
    if (task.table_pair[c] >= kTablePairs) return "pairs of tables exist";
    if (task.planes[c].stride % 32 != 0 ||
        task.planes[c].stride < task.columns() * frame.components[c].h * kBlockSize) {
      return "rows of planes have room for the columns";
    }
  }
  for (std::uint32_t pair = 0; pair < kTablePairs; ++pair) {
    if (!is_prefix_code(task.tables.dc[pair]) || !is_prefix_code(task.tables.ac[pair])) return "tables are codes";
  }
  return {};
}

}  // namespace

std::string broken_promise(const JpegTask& task, const JpegBytes& needed, std::span<const std::byte> payload,
                           const Rect& part) {
  if (!jpeg::has_valid_geometry(task.index.frame)) return "the geometry is valid";
  std::string broken = check_geometry(task, part);
  if (broken.empty()) broken = check_bytes(task, needed, payload);
  if (broken.empty()) broken = check_tables(task);
  return broken;
}

}  // namespace imgpack::gpu::testing
