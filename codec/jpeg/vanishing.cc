#include "codec/jpeg/vanishing.h"

#include <algorithm>
#include <array>
#include <bit>

namespace imgpack::jpeg {

namespace {

/// The most bits that a coefficient of this table can have.
std::uint32_t largest_ac_size(const std::uint8_t* table) {
  std::uint32_t symbols = 0;
  for (std::uint32_t i = 0; i < kHuffmanCounts; ++i) symbols += table[i];
  std::uint32_t largest = 0;
  for (std::uint32_t i = 0; i < symbols; ++i) largest = std::max(largest, table[kHuffmanCounts + i] & 15u);
  return largest;
}

/// Whether some coefficient of at most `size` bits vanishes: 2^(16 - zeros) is the smallest that does.
bool may_vanish(std::uint32_t quant, std::uint32_t size) {
  const auto zeros = static_cast<std::uint32_t>(std::countr_zero(quant | 1u << 16));
  return zeros + size > 16;
}

bool tables_allow_vanishing(std::span<const std::byte> file, const Frame& frame) {
  for (std::uint32_t c = 0; c < frame.component_count; ++c) {
    const Component& component = frame.components[c];
    const std::uint32_t size =
        largest_ac_size(reinterpret_cast<const std::uint8_t*>(file.data()) + component.ac_offset);
    const Dequantizer quants = dequantizer(component, file, kBlockSize);
    for (std::uint32_t k = 1; k < kBlockCoefficients; ++k) {
      if (may_vanish(quants.entries[k].quant, size)) return true;
    }
  }
  return false;
}

/// Reads coefficients as they are, in zigzag order.
Dequantizer no_dequantizer() {
  Dequantizer result;
  for (std::uint32_t k = 0; k < kBlockCoefficients; ++k) result.entries[k] = {1, k};
  return result;
}

bool vanishes(const std::int16_t* block, std::uint32_t last, const Dequantizer& quants) {
  for (std::uint32_t k = 1; k <= last; ++k) {
    if (block[k] == 0) continue;
    if (static_cast<std::int16_t>(static_cast<std::uint32_t>(block[k]) * quants.entries[k].quant) == 0) return true;
  }
  return false;
}

}  // namespace

bool has_vanishing_coefficient(std::span<const std::byte> file, const Frame& frame, const ScanTables& tables) {
  if (!tables_allow_vanishing(file, frame)) return false;
  const Dequantizer as_they_are = no_dequantizer();
  std::array<Dequantizer, kMaxComponents> quants;
  for (std::uint32_t c = 0; c < frame.component_count; ++c) {
    quants[c] = dequantizer(frame.components[c], file, kBlockSize);
  }
  BitReader reader(reinterpret_cast<const std::uint8_t*>(file.data()) + frame.scan_offset, 0, 0, frame.scan_size);
  std::int16_t dc[kMaxComponents] = {};
  const std::uint32_t mcus = frame.mcus_per_row() * frame.mcu_rows();
  for (std::uint32_t mcu = 0; mcu < mcus; ++mcu) {
    if (frame.restart_interval != 0 && mcu != 0 && mcu % frame.restart_interval == 0) {
      if (!reader.take_restart_marker(mcu / frame.restart_interval - 1)) return true;
      std::ranges::fill(dc, std::int16_t{0});
    }
    for (std::uint32_t c = 0; c < frame.component_count; ++c) {
      const std::uint32_t blocks = frame.components[c].h * frame.components[c].v;
      for (std::uint32_t b = 0; b < blocks; ++b) {
        std::int16_t block[kBlockCoefficients] = {};
        const std::uint32_t last = decode_block(reader, *tables.dc[c], *tables.ac[c], as_they_are, dc[c], block);
        if (last == kBadBlock || vanishes(block, last, quants[c])) return true;
      }
    }
  }
  return false;
}

}  // namespace imgpack::jpeg
