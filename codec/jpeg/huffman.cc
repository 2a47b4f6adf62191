#include "codec/jpeg/huffman.h"

#include <algorithm>
#include <cstring>

namespace imgpack::jpeg {

namespace {

/// The lookup entries of one code: all continuations of `code`.
void fill_lookup(std::uint32_t code, std::uint32_t length, Symbol symbol, HuffmanTable& out) {
  const std::uint32_t free_bits = kLookupBits - length;
  Symbol* entries = out.lookup + (code << free_bits);
  const std::uint32_t count = 1u << free_bits;
  const auto size = static_cast<std::uint32_t>(value_of(symbol));
  if ((symbol & kNeedsBits) == 0 || size > free_bits) {
    std::fill_n(entries, count, symbol);
    return;
  }
  const Symbol base = (symbol & 0xff00u) | (length + size);
  const std::uint32_t repeat = 1u << (free_bits - size);
  for (std::uint32_t bits = 0; bits < (1u << size); ++bits) {
    const auto value = static_cast<std::uint32_t>(extend(bits, size));
    std::fill_n(entries + bits * repeat, repeat, base | value << 16);
  }
}

}  // namespace

void build_huffman_table(const std::uint8_t* table, HuffmanClass huffman_class, HuffmanTable& out) {
  std::ranges::fill(out.lookup, kLongCode);
  std::memset(out.symbols, 0, sizeof(out.symbols));
  std::uint32_t code = 0;
  std::uint32_t number = 0;
  out.limit[0] = 0;
  out.first_symbol[0] = 0;
  for (std::uint32_t length = 1; length <= kMaxCodeLength; ++length) {
    out.first_symbol[length] = static_cast<std::int32_t>(number) - static_cast<std::int32_t>(code);
    for (std::uint32_t i = 0; i < table[length - 1]; ++i, ++code, ++number) {
      out.symbols[number] = table[kHuffmanCounts + number];
      if (length > kLookupBits) continue;
      const Symbol symbol = describe_symbol(out.symbols[number], length, huffman_class);
      fill_lookup(code, length, symbol == 0 ? kLongCode : symbol, out);
    }
    out.limit[length] = table[length - 1] == 0 ? out.limit[length - 1] : code << (kMaxCodeLength - length);
    code <<= 1;
  }
  out.limit[kMaxCodeLength + 1] = 0;
}

void build_skip_table(const HuffmanTable& ac, SkipTable& out) {
  for (std::uint32_t bits = 0; bits < (1u << kSkipBits); ++bits) {
    std::uint32_t used = 0;
    std::uint32_t advance = 0;
    std::uint32_t ends = 0;
    while (used < kSkipBits && ends == 0) {
      // What is not known yet of the bits reads as zeros; a symbol counts only if it does not depend on them.
      const std::uint32_t rest = (bits << used) & ((1u << kSkipBits) - 1);
      const Symbol symbol = ac.lookup[rest >> (kSkipBits - kLookupBits)];
      if ((symbol & kLongCode) != 0) break;
      std::uint32_t length = length_of(symbol);
      if ((symbol & kNeedsBits) != 0) length += static_cast<std::uint32_t>(value_of(symbol));
      if (length > kSkipBits - used) break;
      if (advance_of(symbol) == kEndOfBlock) {
        ends = kSkipEndsBlock;
      } else if (advance + advance_of(symbol) + 1 > kBlockCoefficients - 1) {
        break;
      } else {
        advance += advance_of(symbol) + 1;
      }
      used += length;
    }
    out.entries[bits] = static_cast<std::uint16_t>(used | advance << 4 | ends);
  }
}

}  // namespace imgpack::jpeg
