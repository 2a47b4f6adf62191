// Decoding one segment without prepared tables: codes are looked up in the file's own DHT bytes. Slow, small, and the
// judge of what is damaged wherever something faster gives up. For host and device.
#pragma once

#include <cstdint>

#include "codec/host_device.h"
#include "codec/jpeg/bit_reader.h"
#include "codec/jpeg/huffman.h"
#include "codec/jpeg/segment_cursor.h"
#include "codec/jpeg/segment_index.h"

namespace imgpack::jpeg {

/// The tables of a component: 16 counts and then the symbols, valid.
struct PlainTables {
  const std::uint8_t* dc = nullptr;
  const std::uint8_t* ac = nullptr;
};

namespace plain_segment {

/// The next code's symbol byte as describe_symbol() puts it; 0 if there is no such code. T.81 F.2.2.3.
IMGPACK_HD inline Symbol next_symbol(BitReader& reader, const std::uint8_t* table, HuffmanClass huffman_class) {
  const std::uint32_t bits = reader.peek(kMaxCodeLength);
  std::uint32_t first_code = 0;
  std::uint32_t first_symbol = 0;
  for (std::uint32_t length = 1; length <= kMaxCodeLength; ++length) {
    const std::uint32_t count = table[length - 1];
    const std::uint32_t code = bits >> (kMaxCodeLength - length);
    if (code - first_code < count) {
      const std::uint8_t byte = table[kHuffmanCounts + ((first_symbol + code - first_code) & 255)];
      const Symbol symbol = describe_symbol(byte, length, huffman_class);
      reader.consume(length);
      return symbol;
    }
    first_symbol += count;
    first_code = (first_code + count) << 1;
  }
  return 0;
}

/// The bits that follow a symbol's code.
IMGPACK_HD inline std::int32_t coefficient(BitReader& reader, Symbol symbol) {
  if ((symbol & kNeedsBits) == 0) return 0;
  const auto size = static_cast<std::uint32_t>(value_of(symbol));
  const std::int32_t value = extend(reader.peek(size), size);
  reader.consume(size);
  return value;
}

/// Calls put(k, coefficient), k in zigzag order, for the DC coefficient and for those that are not 0. False for a bad
/// block.
template <class Put>
IMGPACK_HD bool decode_block(BitReader& reader, const PlainTables& tables, std::int16_t& predictor, Put put) {
  reader.refill_below(32);
  Symbol symbol = next_symbol(reader, tables.dc, HuffmanClass::dc);
  if (symbol == 0) return false;
  predictor = static_cast<std::int16_t>(predictor + coefficient(reader, symbol));
  put(0, predictor);
  for (std::uint32_t k = 1; k < kBlockCoefficients; ++k) {
    reader.refill_below(32);
    symbol = next_symbol(reader, tables.ac, HuffmanClass::ac);
    if (symbol == 0) return false;
    k += advance_of(symbol);
    if (k >= kBlockCoefficients) return k >= kEndOfBlock;
    const std::int32_t value = coefficient(reader, symbol);
    if (value != 0) put(k, static_cast<std::int16_t>(value));
  }
  return true;
}

}  // namespace plain_segment

/// Decodes the MCUs of `segment` that lie before column `end_column`; `put(mcu_column, block, k, coefficient)` gets
/// what there is, `block` being the number in the MCU. `tables` by component. False if the segment is damaged, as
/// SEGMENTS.md 4 says; then some of it may have been put. `scan` is as for SegmentCursor::begin; of it, bytes before
/// `index.frame.scan_size` are read.
template <class Put>
IMGPACK_HD bool decode_segment(const SegmentIndex& index, const std::uint8_t* scan, const PlainTables* tables,
                               std::uint32_t segment, std::uint32_t end_column, Put put) {
  const Frame& frame = index.frame;
  const std::uint32_t begin = segment % index.segments_per_row() * index.segment_mcus;
  std::uint32_t whole_end = begin + index.segment_mcus;
  if (whole_end > frame.mcus_per_row()) whole_end = frame.mcus_per_row();
  const std::uint32_t end = whole_end < end_column ? whole_end : end_column;
  SegmentCursor cursor;
  if (!cursor.begin(index, scan, segment)) return false;
  for (std::uint32_t column = begin; column < end; ++column, cursor.advance()) {
    if (!cursor.pass_restart(frame.restart_interval)) return false;
    std::uint32_t block = 0;
    for (std::uint32_t c = 0; c < frame.component_count; ++c) {
      const std::uint32_t blocks = frame.components[c].h * frame.components[c].v;
      for (std::uint32_t b = 0; b < blocks; ++b, ++block) {
        const bool good =
            plain_segment::decode_block(cursor.reader, tables[c], cursor.dc[c],
                                        [&](std::uint32_t k, std::int16_t value) { put(column, block, k, value); });
        if (!good) return false;
      }
    }
    if (cursor.reader.overran()) return false;
  }
  if (end < whole_end || segment + 1 == index.segment_count()) return true;
  return cursor.pass_restart(frame.restart_interval) && cursor.stands_at(index.start(segment + 1));
}

}  // namespace imgpack::jpeg
