// Huffman tables in the form in which decoding is fast: one look at the next bits gives the code, the run of zeros and,
// if they are short enough, the coefficient's own bits as well. For host and device.
//
// Codes: T.81 annex C; coefficient bits: T.81 F.1.2.1 and F.1.2.2.
#pragma once

#include <cstdint>
#include <cstring>

#include "codec/host_device.h"
#include "codec/jpeg/frame.h"

namespace imgpack::jpeg {

enum class HuffmanClass : std::uint8_t { dc, ac };

inline constexpr std::uint32_t kMaxCodeLength = 16;
inline constexpr std::uint32_t kLookupBits = 10;
inline constexpr std::uint32_t kMaxDcSize = 15;  ///< larger sizes make no valid table, as in libjpeg

/// One decoded symbol, or what is to be done to get it.
///   bits 0..4   length: bits to consume (of the code, and of the coefficient where it is complete)
///   bits 5..7   kind
///   bits 8..15  advance: how far the coefficient lies behind the last one; kEndOfBlock for the end of the block
///   bits 16..31 the coefficient, signed; for kNeedsBits how many bits of it follow the code
using Symbol = std::uint32_t;

inline constexpr Symbol kNeedsBits = 1u << 5;  ///< the coefficient's bits have to be read yet
inline constexpr Symbol kLongCode = 1u << 6;   ///< longer than the lookup, or no code at all
inline constexpr Symbol kIncomplete = kNeedsBits | kLongCode;
inline constexpr std::uint32_t kEndOfBlock = 128;

IMGPACK_HD constexpr std::uint32_t length_of(Symbol symbol) {
  return symbol & 31;
}
IMGPACK_HD constexpr std::uint32_t advance_of(Symbol symbol) {
  return (symbol >> 8) & 255;
}
IMGPACK_HD constexpr std::int32_t value_of(Symbol symbol) {
  return static_cast<std::int32_t>(symbol) >> 16;
}

/// The coefficient with `size` > 0 bits `bits`: T.81 F.2.2.1 EXTEND.
IMGPACK_HD constexpr std::int32_t extend(std::uint32_t bits, std::uint32_t size) {
  const bool positive = (bits >> (size - 1)) != 0;
  return static_cast<std::int32_t>(bits) - (positive ? 0 : (1 << size) - 1);
}

struct HuffmanTable {
  Symbol lookup[1u << kLookupBits];               ///< by the next kLookupBits bits
  std::uint32_t limit[kMaxCodeLength + 2];        ///< first value of 16 bits that is beyond the codes of this length
  std::int32_t first_symbol[kMaxCodeLength + 1];  ///< symbol number = first_symbol + code, for codes of this length
  std::uint8_t symbols[kMaxHuffmanSymbols];

  /// The code at the head of `bits` (16 of them, left-aligned in 16), as a symbol with kNeedsBits; 0 if there is none.
  IMGPACK_HD Symbol find_code(std::uint32_t bits16, HuffmanClass huffman_class) const;
};

/// What a symbol byte means, before the coefficient's bits: T.81 F.2.2.1 for DC, F.2.2.2 for AC. 0: not a valid one.
IMGPACK_HD constexpr Symbol describe_symbol(std::uint32_t byte, std::uint32_t length, HuffmanClass huffman_class) {
  if (huffman_class == HuffmanClass::dc) {
    return byte == 0 ? length : length | kNeedsBits | byte << 16;
  }
  const std::uint32_t run = byte >> 4;
  const std::uint32_t size = byte & 15;
  if (size != 0) return length | kNeedsBits | run << 8 | size << 16;
  if (run == 0) return length | kEndOfBlock << 8;
  return run == 15 ? length | run << 8 : 0;  // sixteen zeros: a coefficient that is zero
}

IMGPACK_HD inline Symbol HuffmanTable::find_code(std::uint32_t bits16, HuffmanClass huffman_class) const {
  for (std::uint32_t length = 1; length <= kMaxCodeLength; ++length) {
    if (bits16 < limit[length]) {
      const auto code = static_cast<std::int32_t>(bits16 >> (kMaxCodeLength - length));
      return describe_symbol(symbols[(first_symbol[length] + code) & 255], length, huffman_class);
    }
  }
  return 0;
}

/// How many symbols a table has: the sum of its 16 counts, eight of them at a time.
IMGPACK_HD inline std::uint32_t count_huffman_symbols(const std::uint8_t* table) {
  constexpr std::uint64_t kEven = 0x00ff00ff00ff00ff;
  std::uint64_t sums = 0;  // of four counts each, in 16 bits
  for (std::uint32_t i = 0; i < kHuffmanCounts; i += 8) {
    std::uint64_t counts = 0;
    std::memcpy(&counts, table + i, sizeof counts);
    sums += (counts & kEven) + ((counts >> 8) & kEven);
  }
  return static_cast<std::uint32_t>(sums * 0x0001000100010001 >> 48);
}

/// `table`: 16 counts and then as many symbols as they say, at most 256, all readable. False where libjpeg refuses it:
/// codes that do not fit their length, the code of all ones, a DC symbol above kMaxDcSize.
IMGPACK_HD inline bool is_valid_huffman_table(const std::uint8_t* table, HuffmanClass huffman_class) {
  // Each code takes its share of the values of 16 bits. They fit, and the code of all ones is free, if a value is left.
  std::uint32_t taken = 0;
  for (std::uint32_t i = 0; i < kHuffmanCounts; ++i) taken = 2 * taken + table[i];
  const std::uint32_t symbols = count_huffman_symbols(table);
  if (taken >= 1u << kMaxCodeLength || symbols > kMaxHuffmanSymbols) return false;
  if (huffman_class == HuffmanClass::ac) return true;
  for (std::uint32_t i = 0; i < symbols; ++i) {
    if (table[kHuffmanCounts + i] > kMaxDcSize) return false;
  }
  return true;
}

/// Fills `out` from a valid table.
void build_huffman_table(const std::uint8_t* table, HuffmanClass huffman_class, HuffmanTable& out);

/// For passing over blocks without their coefficients: one look gives as many symbols as fit.
inline constexpr std::uint32_t kSkipBits = 12;

struct SkipTable {
  /// By the next kSkipBits bits. Bits 0..3: bits to consume; 4..10: sum of advances + 1 of the symbols; bit 15: the
  /// last one ends the block. 0: not even one symbol fits.
  std::uint16_t entries[1u << kSkipBits];
};
inline constexpr std::uint32_t kSkipEndsBlock = 1u << 15;

void build_skip_table(const HuffmanTable& ac, SkipTable& out);

}  // namespace imgpack::jpeg
