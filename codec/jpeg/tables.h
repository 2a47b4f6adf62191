// The tables that a file's scan needs, in decodable form, kept from image to image where they are the same.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codec/jpeg/block_decoder.h"
#include "codec/jpeg/frame.h"
#include "codec/jpeg/huffman.h"

namespace imgpack::jpeg {

/// Huffman tables by their DHT bytes: most files of a dataset share the standard ones. Not thread-safe.
class HuffmanCache {
 public:
  struct Entry {
    std::vector<std::uint8_t> source;  ///< counts and symbols
    HuffmanClass huffman_class = HuffmanClass::dc;
    std::uint64_t last_use = 0;
    HuffmanTable table;
    std::unique_ptr<SkipTable> skip;  ///< of AC tables, once asked for
  };

  /// `source`: 16 counts and their symbols, valid. The result stays until kSlots others have been asked for.
  const Entry& get(const std::uint8_t* source, HuffmanClass huffman_class, bool with_skip);

 private:
  static constexpr std::size_t kSlots = 12;  // more than the 6 that an image can need

  std::uint64_t uses_ = 0;
  std::vector<std::unique_ptr<Entry>> slots_;
};

/// What one scan needs, by component.
struct ScanTables {
  std::array<const HuffmanTable*, kMaxComponents> dc{};
  std::array<const HuffmanTable*, kMaxComponents> ac{};
  std::array<const SkipTable*, kMaxComponents> skip{};
};

/// Passes over one MCU of a scan. False if it is damaged. `dc`: the predictors.
inline bool skip_mcu(BitReader& reader, const Frame& frame, const ScanTables& tables, std::int16_t* dc) {
  for (std::uint32_t c = 0; c < frame.component_count; ++c) {
    const std::uint32_t blocks = frame.components[c].h * frame.components[c].v;
    for (std::uint32_t b = 0; b < blocks; ++b) {
      if (!skip_block(reader, *tables.dc[c], *tables.ac[c], *tables.skip[c], dc[c])) return false;
    }
  }
  return true;
}

/// Skip tables, which take a while to make, only if `with_skip`; else skip_mcu() must not be called.
ScanTables scan_tables(const Frame& frame, std::span<const std::byte> file, bool with_skip, HuffmanCache& cache);

/// `stride`: int16 elements between a block's rows.
Dequantizer dequantizer(const Component& component, std::span<const std::byte> file, std::uint32_t stride);

}  // namespace imgpack::jpeg
