// Huffman codes in shared memory: tables that a block of threads builds from an image's DHT bytes, and looks up in.
// Device code only.
#pragma once

#include <cstdint>

#include "codec/jpeg/huffman.h"
#include "reader/gpu/program/jpeg_task.h"
#include "reader/gpu/program/work.h"

namespace imgpack::gpu::entropy {

inline constexpr std::uint32_t kLookBits = 10;
inline constexpr std::uint32_t kRestBits = jpeg::kMaxCodeLength - kLookBits;
inline constexpr std::uint32_t kLongCodes = 512;  // values of 16 bits

// A looked-up code: bits 0-4 its length, 5-8 how many bits of the coefficient follow, 9-15 how many zeros come before.
// 0: longer than the lookup, or no code.
using Code = std::uint32_t;
inline constexpr std::uint32_t kEndRun = 127;

__device__ inline Code describe(std::uint32_t byte, std::uint32_t length, bool is_dc) {
  if (is_dc) return length | byte << 5;
  const std::uint32_t run = byte >> 4;
  const std::uint32_t size = byte & 15;
  if (size == 0 && run == 0) return length | kEndRun << 9;
  if (size == 0 && run != 15) return 0;
  return length | size << 5 | run << 9;
}

/// In shared memory. A code is found by its first kLookBits bits, or, where it is longer, by the next kRestBits too.
struct Table {
  std::uint16_t look[1u << kLookBits];
  std::uint32_t limit[jpeg::kMaxCodeLength + 1];        ///< first 16-bit value beyond the codes of this length
  std::int32_t first_symbol[jpeg::kMaxCodeLength + 1];  ///< symbol = first_symbol + code
  std::uint32_t long_begin;                             ///< 16-bit value that longs[0] is of, a multiple of 2^kRestBits
  std::uint16_t longs[kLongCodes];
};

/// The code at the head of 16 bits, of at least `from` bits.
__device__ inline Code find(const Table& table, const std::uint8_t* dht, bool is_dc, std::uint32_t bits,
                            std::uint32_t from) {
  for (std::uint32_t length = from; length <= jpeg::kMaxCodeLength; ++length) {
    if (bits < table.limit[length]) {
      const auto code = static_cast<std::int32_t>(bits >> (jpeg::kMaxCodeLength - length));
      return describe(dht[jpeg::kHuffmanCounts + ((table.first_symbol[length] + code) & 255)], length, is_dc);
    }
  }
  return 0;
}

/// A code longer than kLookBits. Most files have few of them, all of which are in `longs`.
__device__ inline Code find_long(const Table& table, const std::uint8_t* dht, bool is_dc, std::uint32_t bits) {
  if (bits < table.long_begin) return 0;  // a short code of a symbol that makes no sense
  const std::uint32_t number = bits - table.long_begin;
  if (number < kLongCodes) return table.longs[number];
  return find(table, dht, is_dc, bits, kLookBits + 1);
}

/// Four tables at a time: DC and AC of each pair.
inline constexpr std::uint32_t kTables = 2 * kTablePairs;

__device__ inline const std::uint8_t* dht_of(const JpegTables& tables, std::uint32_t table) {
  return table % 2 == 0 ? tables.dc[table / 2] : tables.ac[table / 2];
}

__device__ inline void build_limits(const std::uint8_t* dht, Table& table) {
  std::uint32_t code = 0;
  std::uint32_t number = 0;
  table.limit[0] = 0;
  table.first_symbol[0] = 0;
  for (std::uint32_t length = 1; length <= jpeg::kMaxCodeLength; ++length) {
    const std::uint32_t count = dht[length - 1];
    table.first_symbol[length] = static_cast<std::int32_t>(number) - static_cast<std::int32_t>(code);
    code += count;
    number += count;
    table.limit[length] = count == 0 ? table.limit[length - 1] : code << (jpeg::kMaxCodeLength - length);
    code <<= 1;
  }
  // Codes grow with their length: the long ones are at the end.
  table.long_begin = table.limit[kLookBits] >> kRestBits << kRestBits;
}

__device__ inline void build_tables(const JpegTables& from, Table* tables) {
  if (threadIdx.x < kTables) build_limits(dht_of(from, threadIdx.x), tables[threadIdx.x]);
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < kTables << kLookBits; i += kEntropySegments) {
    const std::uint32_t t = i >> kLookBits;
    const std::uint32_t look = i & ((1u << kLookBits) - 1);
    const Code code = find(tables[t], dht_of(from, t), t % 2 == 0, look << kRestBits, 1);
    // Bits that are not known yet read as zeros: what depends on them is not decided here.
    tables[t].look[look] = static_cast<std::uint16_t>((code & 31) <= kLookBits ? code : 0);
  }
  for (std::uint32_t t = 0; t < kTables; ++t) {
    Table& table = tables[t];
    const std::uint32_t end = min(table.limit[jpeg::kMaxCodeLength] - table.long_begin, kLongCodes);
    for (std::uint32_t i = threadIdx.x; i < kLongCodes; i += kEntropySegments) {
      const Code code =
          i < end ? find(table, dht_of(from, t), t % 2 == 0, table.long_begin + i, kLookBits + 1) : 0;
      table.longs[i] = static_cast<std::uint16_t>(code);
    }
  }
}

}  // namespace imgpack::gpu::entropy
