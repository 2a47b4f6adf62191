// Which tables are valid.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <random>

#include "codec/jpeg/huffman.h"

using namespace imgpack::jpeg;

namespace {

using Table = std::array<std::uint8_t, kHuffmanCounts + kMaxHuffmanSymbols>;

/// As libjpeg finds out (jpeg_make_d_derived_tbl in jdhuff.c), code by code: T.81 annex C.
bool libjpeg_takes(const Table& table) {
  std::uint32_t symbols = 0;
  std::uint32_t code = 0;
  for (std::uint32_t length = 1; length <= kMaxCodeLength; ++length) {
    const std::uint32_t count = table[length - 1];
    symbols += count;
    code += count;
    if (count != 0 && code >= 1u << length) return false;
    code <<= 1;
  }
  return symbols <= kMaxHuffmanSymbols;
}

}  // namespace

TEST_CASE("a Huffman table is valid where libjpeg takes it") {
  std::mt19937 generator(1);
  const auto below = [&generator](std::uint32_t end) { return static_cast<std::uint32_t>(generator() % end); };
  int taken = 0;
  int refused = 0;
  for (int i = 0; i < 200'000; ++i) {
    Table table{};
    // As many codes of each length as there is room for, or fewer, or now and then one more.
    std::uint32_t room = 1;
    for (std::uint32_t length = 1; length <= kMaxCodeLength; ++length) {
      room = 2 * room;
      const std::uint32_t most = room < 255 ? room : 255;
      const std::uint32_t wanted = below(3) == 0 ? below(most + 1) : 0;
      const std::uint32_t count = below(16) == 0 ? most : wanted;
      table[length - 1] = static_cast<std::uint8_t>(below(64) == 0 && count < 255 ? count + 1 : count);
      room = room > count ? room - count : 0;
    }
    const bool expected = libjpeg_takes(table);
    CHECK(is_valid_huffman_table(table.data(), HuffmanClass::ac) == expected);
    ++(expected ? taken : refused);
  }
  CHECK(taken > 1000);
  CHECK(refused > 1000);
}

TEST_CASE("a DC table's symbols are sizes of at most 15 bits") {
  Table table{};
  table[1] = 2;
  table[kHuffmanCounts] = kMaxDcSize;
  table[kHuffmanCounts + 1] = kMaxDcSize + 1;
  CHECK(is_valid_huffman_table(table.data(), HuffmanClass::ac));
  CHECK_FALSE(is_valid_huffman_table(table.data(), HuffmanClass::dc));
  table[1] = 1;
  CHECK(is_valid_huffman_table(table.data(), HuffmanClass::dc));
}
