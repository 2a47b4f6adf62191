#include "reader/gpu/program/jpeg_planner.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/jpeg/huffman.h"
#include "codec/jpeg/zigzag.h"
#include "reader/gpu/program/work.h"

namespace imgpack::gpu {

namespace {

using jpeg::kMaxComponents;

const std::uint8_t* bytes_of(std::span<const std::byte> file) {
  return reinterpret_cast<const std::uint8_t*>(file.data());
}

/// Where the value for each place of a block in memory, column by column, stands in a file's table.
struct QuantOrder {
  std::uint8_t zigzag[jpeg::kBlockCoefficients];
};
constexpr QuantOrder quant_order() {
  constexpr jpeg::ZigzagOrder kOrder = jpeg::zigzag_order();
  QuantOrder order{};
  for (std::uint8_t k = 0; k < jpeg::kBlockCoefficients; ++k) {
    const std::uint32_t natural = kOrder.natural[k];
    order.zigzag[natural % 8 * 8 + natural / 8] = k;
  }
  return order;
}
constexpr QuantOrder kQuantOrder = quant_order();

/// A loop that is unrolled: where values stand are constants then.
template <std::size_t... kPlace>
void copy_bytes(const std::uint8_t* values, std::uint16_t* out, std::index_sequence<kPlace...>) {
  ((out[kPlace] = values[kQuantOrder.zigzag[kPlace]]), ...);
}

void copy_quant(const jpeg::Component& component, const std::uint8_t* file, std::uint16_t* out) {
  const std::uint8_t* const values = file + component.quant_offset;
  if (component.quant_16bit) {
    for (std::uint32_t i = 0; i < jpeg::kBlockCoefficients; ++i) {
      const std::uint8_t* const value = values + std::size_t{2} * kQuantOrder.zigzag[i];
      out[i] = static_cast<std::uint16_t>(value[0] << 8 | value[1]);
    }
  } else {
    copy_bytes(values, out, std::make_index_sequence<jpeg::kBlockCoefficients>());
  }
}

void copy_huffman(const std::uint8_t* dht, std::uint8_t* out) {
  constexpr std::uint32_t kStep = jpeg::kHuffmanCounts;
  const std::uint32_t symbols = std::min(jpeg::count_huffman_symbols(dht), jpeg::kMaxHuffmanSymbols);
  // In steps of one size, the last over a part of the one before it: faster than a copy of any size.
  for (std::uint32_t at = 0; at < symbols; at += kStep) std::memcpy(out + at, dht + at, kStep);
  std::memcpy(out + symbols, dht + symbols, kStep);
}

/// False if there are too many.
bool copy_tables(const jpeg::Frame& frame, const std::uint8_t* file, JpegTask& task) {
  std::uint32_t pairs = 0;
  const jpeg::Component* owners[kTablePairs] = {};
  for (std::uint32_t c = 0; c < frame.component_count; ++c) {
    const jpeg::Component& component = frame.components[c];
    if (c != 0 && component.quant_offset == frame.components[c - 1].quant_offset) {  // and so the same width
      std::memcpy(task.tables.quant[c], task.tables.quant[c - 1], sizeof task.tables.quant[c]);
    } else {
      copy_quant(component, file, task.tables.quant[c]);
    }
    std::uint32_t pair = 0;
    while (pair < pairs &&
           (owners[pair]->dc_offset != component.dc_offset || owners[pair]->ac_offset != component.ac_offset)) {
      ++pair;
    }
    if (pair == pairs) {
      if (pairs == kTablePairs) return false;
      owners[pairs++] = &component;
      copy_huffman(file + component.dc_offset, task.tables.dc[pair]);
      copy_huffman(file + component.ac_offset, task.tables.ac[pair]);
    }
    task.table_pair[c] = static_cast<std::uint8_t>(pair);
  }
  // Of a pair that no component has, the device builds tables all the same: without a code.
  for (std::uint32_t pair = pairs; pair < kTablePairs; ++pair) {
    std::fill_n(task.tables.dc[pair], jpeg::kHuffmanCounts, std::uint8_t{0});
    std::fill_n(task.tables.ac[pair], jpeg::kHuffmanCounts, std::uint8_t{0});
  }
  return true;
}

/// The bytes of the scan from the part's first segment to the end of its last. False if they make no sense.
bool find_scan(JpegTask& task) {
  const jpeg::SegmentIndex& index = task.index;
  const std::uint32_t last = task.segment(task.segments() - 1);
  task.scan_begin = index.position(task.segment(0)) / 8;
  // One byte behind tells whether a last 0xff is data.
  const std::uint64_t end =
      last + 1 == index.segment_count() ? index.frame.scan_size : std::uint64_t{index.position(last + 1) / 8} + 2;
  task.scan_end = static_cast<std::uint32_t>(std::min<std::uint64_t>(end, index.frame.scan_size));
  return task.scan_begin < task.scan_end;
}

}  // namespace

bool plan_jpeg(const RecordMeta& meta, const RecordBytes& bytes, const Rect& part, JpegTask& task, JpegBytes& needed) {
  jpeg::SegmentIndex& index = task.index;
  if (jpeg::open_segment_index(bytes.segments, bytes.payload, index) != jpeg::IndexStatus::ok) return false;
  const jpeg::Frame& frame = index.frame;
  if (frame.width != meta.width || frame.height != meta.height) return false;
  task.plan = jpeg::plan_crop(frame, part);
  task.first_segment = task.plan.columns.first / index.segment_mcus;
  task.segments_in_row = (task.plan.columns.end - 1) / index.segment_mcus + 1 - task.first_segment;
  if (!copy_tables(frame, bytes_of(bytes.payload), task)) return false;
  if (!find_scan(task)) return false;
  needed.entries = std::as_bytes(std::span(index.entries, index.entries_size));
  needed.scan = bytes.payload.subspan(frame.scan_offset + task.scan_begin, task.scan_end - task.scan_begin);
  for (std::uint32_t c = 0; c < frame.component_count; ++c) {
    task.planes[c].stride = ceil_div(task.columns() * frame.components[c].h * jpeg::kBlockSize, 32) * 32;
  }
  return true;
}

}  // namespace imgpack::gpu
