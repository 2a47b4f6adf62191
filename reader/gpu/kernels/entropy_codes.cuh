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
  if (is_dc) return byte < 16 ? length | byte << 5 : 0;
  const std::uint32_t run = byte >> 4;
  const std::uint32_t size = byte & 15;
  if (size == 0 && run == 0) return length | kEndRun << 9;
  if (size == 0 && run != 15) return 0;
  return length | size << 5 | run << 9;
}

/// A code is found by its first kLookBits bits; where it is longer, by comparing with limits.
struct Table {
  std::uint16_t look[1u << kLookBits];
  std::uint32_t limit[jpeg::kMaxCodeLength + 1];        ///< first 16-bit value beyond the codes of this length
  std::int32_t first_symbol[jpeg::kMaxCodeLength + 1];  ///< symbol = first_symbol + code
};

/// Four tables at a time: DC and AC of each pair.
inline constexpr std::uint32_t kTables = 2 * kTablePairs;

/// In shared memory. Codes longer than kLookBits are found in `longs` if they are of an AC table and among its first
/// kLongCodes values of 16 bits; of DC tables, which hardly have any, they are searched for.
struct Tables {
  Table all[kTables];
  std::uint16_t longs[kTablePairs][kLongCodes];  ///< from the value limit[kLookBits] on: they come after all short ones
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
}

/// A code longer than kLookBits, for what is not in Tables::longs.
__device__ inline Code find_long(const Table& table, const std::uint8_t* dht, bool is_dc, std::uint32_t bits) {
  if (bits < table.limit[kLookBits]) return 0;  // a short code of a symbol that makes no sense
  return find(table, dht, is_dc, bits, kLookBits + 1);
}

/// The code of a symbol.
struct SymbolCode {
  std::uint32_t length = 0;  ///< 0: there is no such symbol
  std::uint32_t first = 0;   ///< of the values of 16 bits that begin with it
};

/// `number`: in the order of the DHT bytes.
__device__ inline SymbolCode code_of(const Table& table, std::uint32_t number) {
  for (std::uint32_t length = 1; length <= jpeg::kMaxCodeLength; ++length) {
    const std::uint32_t end = table.limit[length] >> (jpeg::kMaxCodeLength - length);  // behind the codes up to here
    const std::uint32_t code = number - static_cast<std::uint32_t>(table.first_symbol[length]);
    if (static_cast<std::int32_t>(code - end) < 0) return {length, code << (jpeg::kMaxCodeLength - length)};
  }
  return {};
}

/// REQUIRES: `count` is a power of two, and the first lookup's number a multiple of it.
__device__ inline void fill(std::uint16_t* lookups, std::uint32_t count, std::uint16_t code) {
  if (count == 1) {
    *lookups = code;
    return;
  }
  auto* const pairs = reinterpret_cast<std::uint32_t*>(lookups);
  for (std::uint32_t i = 0; i < count / 2; ++i) pairs[i] = code * 0x10001U;
}

/// All threads of the block. Symbol by symbol, each of which fills the lookups that begin with its code: that is less
/// work than looking for each lookup's code.
__device__ inline void build_tables(const JpegTables& from, Tables& tables) {
  static_assert(sizeof Table::look % 4 == 0 && sizeof Tables::longs % 4 == 0);
  for (Table& table : tables.all) {
    auto* const words = reinterpret_cast<std::uint32_t*>(table.look);
    for (std::uint32_t i = threadIdx.x; i < sizeof table.look / 4; i += kEntropySegments) words[i] = 0;
  }
  auto* const words = reinterpret_cast<std::uint32_t*>(tables.longs);
  for (std::uint32_t i = threadIdx.x; i < sizeof tables.longs / 4; i += kEntropySegments) words[i] = 0;
  if (threadIdx.x < kTables) build_limits(dht_of(from, threadIdx.x), tables.all[threadIdx.x]);
  __syncthreads();
  for (std::uint32_t t = 0; t < kTables; ++t) {
    Table& table = tables.all[t];
    const bool is_dc = t % 2 == 0;
    const std::uint8_t* const symbols = dht_of(from, t) + jpeg::kHuffmanCounts;
    for (std::uint32_t i = threadIdx.x; i < jpeg::kMaxHuffmanSymbols; i += kEntropySegments) {
      const SymbolCode symbol = code_of(table, i);
      // Codes beyond their length are refused by the host, but in bytes that it reads once more when it copies them.
      if (symbol.length == 0 || symbol.first >= 1u << jpeg::kMaxCodeLength) break;
      const auto code = static_cast<std::uint16_t>(describe(symbols[i], symbol.length, is_dc));
      if (symbol.length <= kLookBits) {
        fill(table.look + (symbol.first >> kRestBits), 1u << (kLookBits - symbol.length), code);
      } else if (!is_dc) {
        const std::uint32_t first = symbol.first - table.limit[kLookBits];
        const std::uint32_t end = min(first + (1u << (jpeg::kMaxCodeLength - symbol.length)), kLongCodes);
        for (std::uint32_t k = first; k < end; ++k) tables.longs[t / 2][k] = code;
      }
    }
  }
}

}  // namespace imgpack::gpu::entropy
