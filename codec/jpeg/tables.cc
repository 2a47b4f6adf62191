#include "codec/jpeg/tables.h"

#include <algorithm>

namespace imgpack::jpeg {

const HuffmanCache::Entry& HuffmanCache::get(const std::uint8_t* source, HuffmanClass huffman_class, bool with_skip) {
  std::size_t size = kHuffmanCounts;
  for (std::uint32_t i = 0; i < kHuffmanCounts; ++i) size += source[i];
  Entry* oldest = nullptr;
  Entry* found = nullptr;
  for (const std::unique_ptr<Entry>& slot : slots_) {
    if (slot->huffman_class == huffman_class && std::ranges::equal(slot->source, std::span(source, size))) {
      found = slot.get();
      break;
    }
    if (oldest == nullptr || slot->last_use < oldest->last_use) oldest = slot.get();
  }
  if (found == nullptr) {
    if (slots_.size() < kSlots) oldest = slots_.emplace_back(std::make_unique<Entry>()).get();
    found = oldest;
    found->source.assign(source, source + size);
    found->huffman_class = huffman_class;
    found->skip.reset();
    build_huffman_table(source, huffman_class, found->table);
  }
  if (with_skip && found->skip == nullptr) {
    found->skip = std::make_unique_for_overwrite<SkipTable>();
    build_skip_table(found->table, *found->skip);
  }
  found->last_use = ++uses_;
  return *found;
}

ScanTables scan_tables(const Frame& frame, std::span<const std::byte> file, bool with_skip, HuffmanCache& cache) {
  ScanTables tables;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.data());
  for (std::uint32_t c = 0; c < frame.component_count; ++c) {
    const Component& component = frame.components[c];
    tables.dc[c] = &cache.get(bytes + component.dc_offset, HuffmanClass::dc, false).table;
    const HuffmanCache::Entry& ac = cache.get(bytes + component.ac_offset, HuffmanClass::ac, with_skip);
    tables.ac[c] = &ac.table;
    tables.skip[c] = ac.skip.get();
  }
  return tables;
}

Dequantizer dequantizer(const Component& component, std::span<const std::byte> file, std::uint32_t stride) {
  Dequantizer result;
  const auto* values = reinterpret_cast<const std::uint8_t*>(file.data()) + component.quant_offset;
  constexpr ZigzagOrder kOrder = zigzag_order();
  for (std::uint32_t k = 0; k < kBlockCoefficients; ++k) {
    const std::uint32_t quant =
        component.quant_16bit ? static_cast<std::uint32_t>(values[2 * k] << 8 | values[2 * k + 1]) : values[k];
    const std::uint32_t natural = kOrder.natural[k];
    result.entries[k] = {quant, natural / kBlockSize * stride + natural % kBlockSize};
  }
  return result;
}

}  // namespace imgpack::jpeg
