// Entropy decoding of one block. For host and device. T.81 F.2.2.
#pragma once

#include <cstdint>

#include "codec/host_device.h"
#include "codec/jpeg/bit_reader.h"
#include "codec/jpeg/huffman.h"
#include "codec/jpeg/zigzag.h"

namespace imgpack::jpeg {

/// For each coefficient in zigzag order: what to multiply it by and where in the block's memory it goes.
struct Dequantizer {
  struct Entry {
    std::uint32_t quant;
    std::uint32_t place;
  };
  Entry entries[kBlockCoefficients];
};

/// Looks into the tables for which the bits of one refill suffice. Asking before each look whether bits are needed
/// costs more, since that branch is hard to predict.
inline constexpr std::uint32_t kLooksPerRefill = BitReader::kRefilled / kLookupBits;
inline constexpr std::uint32_t kSkipsPerRefill = BitReader::kRefilled / kSkipBits;

/// How decoding a block ended.
inline constexpr std::uint32_t kBadBlock = 255;  ///< no such code, or coefficients beyond the 64th

/// Resolves a symbol that the lookup could not: consumes its code and reads the coefficient's bits. 0 if there is no
/// such code. What is returned has length 0.
IMGPACK_HD inline Symbol finish_symbol(BitReader& reader, Symbol symbol, const HuffmanTable& table,
                                       HuffmanClass huffman_class, bool& bad) {
  if ((symbol & kLongCode) != 0) {
    symbol = table.find_code(reader.peek(kMaxCodeLength), huffman_class);
    bad = symbol == 0;
    if (bad) return 0;
  }
  reader.consume(length_of(symbol));
  if ((symbol & kNeedsBits) == 0) return symbol & ~Symbol{31};
  const auto size = static_cast<std::uint32_t>(value_of(symbol));
  const std::int32_t value = extend(reader.peek(size), size);
  reader.consume(size);
  return (symbol & 0xff00u) | static_cast<std::uint32_t>(value) << 16;
}

/// The DC coefficient, modulo 2^16 as libjpeg keeps it.
IMGPACK_HD inline std::int16_t decode_dc(BitReader& reader, const HuffmanTable& dc, std::int16_t predictor, bool& bad) {
  reader.refill_below(32);
  Symbol symbol = dc.lookup[reader.peek(kLookupBits)];
  if ((symbol & kIncomplete) != 0) {
    symbol = finish_symbol(reader, symbol, dc, HuffmanClass::dc, bad);
  } else {
    reader.consume(length_of(symbol));
  }
  return static_cast<std::int16_t>(predictor + value_of(symbol));
}

/// Decodes a block into `block`, whose memory must be zeros: coefficients times quantisation values, both taken modulo
/// 2^16 as libjpeg-turbo's SIMD code does. Returns the zigzag number of the last coefficient, 0 if there is only the DC
/// one, or kBadBlock. `predictor` is the component's DC predictor.
IMGPACK_HD inline std::uint32_t decode_block(BitReader& reader, const HuffmanTable& dc, const HuffmanTable& ac,
                                             const Dequantizer& dequantizer, std::int16_t& predictor,
                                             std::int16_t* block) {
  bool bad = false;
  predictor = decode_dc(reader, dc, predictor, bad);
  if (bad) return kBadBlock;
  block[dequantizer.entries[0].place] =
      static_cast<std::int16_t>(static_cast<std::uint32_t>(predictor) * dequantizer.entries[0].quant);
  std::uint32_t last = 0;
  std::uint32_t k = 1;
  for (;;) {
    reader.refill();
#pragma GCC unroll 5
    for (std::uint32_t i = 0; i < kLooksPerRefill; ++i) {
      Symbol symbol = ac.lookup[reader.peek(kLookupBits)];
      const bool complete = (symbol & kIncomplete) == 0;
      if (complete) [[likely]] {
        reader.consume(length_of(symbol));
      } else {
        reader.refill_below(32);
        symbol = finish_symbol(reader, symbol, ac, HuffmanClass::ac, bad);
        if (bad) return kBadBlock;
      }
      k += advance_of(symbol);
      if (k >= kBlockCoefficients) return k >= kEndOfBlock ? last : kBadBlock;
      const Dequantizer::Entry entry = dequantizer.entries[k];
      block[entry.place] = static_cast<std::int16_t>(static_cast<std::uint32_t>(value_of(symbol)) * entry.quant);
      last = k++;
      if (k >= kBlockCoefficients) return last;
      if (!complete) break;  // it may have taken more than a look's bits
    }
  }
}

/// The same without the coefficients: only the predictor is kept up. False for a bad block.
IMGPACK_HD inline bool skip_block(BitReader& reader, const HuffmanTable& dc, const HuffmanTable& ac,
                                  const SkipTable& skip, std::int16_t& predictor) {
  bool bad = false;
  predictor = decode_dc(reader, dc, predictor, bad);
  if (bad) return false;
  std::uint32_t k = 1;
  for (;;) {
    reader.refill();
#pragma GCC unroll 4
    for (std::uint32_t i = 0; i < kSkipsPerRefill; ++i) {
      const std::uint32_t entry = skip.entries[reader.peek(kSkipBits)];
      const std::uint32_t ends = entry >> 15;
      const std::uint32_t next = k + ((entry >> 4) & 127);
      const bool fits = entry != 0 && next + ends <= kBlockCoefficients;
      if (fits) {
        reader.consume(entry & 15);
        if (ends != 0) return true;
        k = next;
      } else {
        // Nothing fits, or what was looked up reaches into the next block: one symbol.
        reader.refill_below(32);
        Symbol symbol = ac.lookup[reader.peek(kLookupBits)];
        if ((symbol & kIncomplete) != 0) {
          symbol = finish_symbol(reader, symbol, ac, HuffmanClass::ac, bad);
          if (bad) return false;
        } else {
          reader.consume(length_of(symbol));
        }
        k += advance_of(symbol);
        if (k >= kBlockCoefficients) return k >= kEndOfBlock;
        ++k;
      }
      if (k >= kBlockCoefficients) return true;
      if (!fits) break;
    }
  }
}

}  // namespace imgpack::jpeg
