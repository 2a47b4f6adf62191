// What has to be known of a JPEG file to decode its scan: geometry, and where in the file its tables are. Plain data
// for host and device. Only files that our own decoder can read are described by it: Huffman-coded, sequential, 8 bits,
// one interleaved scan of 1 or 3 components.
#pragma once

#include <cstdint>

#include "codec/host_device.h"

namespace imgpack::jpeg {

inline constexpr std::uint32_t kBlockSize = 8;  ///< samples of a block's side
inline constexpr std::uint32_t kBlockCoefficients = 64;
inline constexpr std::uint32_t kMaxComponents = 3;
inline constexpr std::uint32_t kMaxSampling = 4;      ///< T.81 B.2.2
inline constexpr std::uint32_t kMaxBlocksInMcu = 10;  ///< T.81 B.2.3
inline constexpr std::uint32_t kMaxSide = 65500;      ///< libjpeg's limit for width and height
inline constexpr std::uint32_t kHuffmanCounts = 16;   ///< a DHT table begins with so many counts
inline constexpr std::uint32_t kMaxHuffmanSymbols = 256;

enum class ColorModel : std::uint8_t { gray = 0, ycbcr = 1, rgb = 2 };

struct Component {
  std::uint8_t h = 1;  ///< sampling factors; 1x1 for the only component of a gray image, whatever the file says
  std::uint8_t v = 1;
  bool quant_16bit = false;
  std::uint32_t quant_offset = 0;  ///< in the file, of 64 or 128 bytes in zigzag order
  std::uint32_t dc_offset = 0;     ///< in the file, of a Huffman table: 16 counts, then the symbols
  std::uint32_t ac_offset = 0;
  bool operator==(const Component&) const = default;
};

struct Frame {
  std::uint32_t width = 0;  ///< pixels
  std::uint32_t height = 0;
  ColorModel color = ColorModel::gray;
  std::uint32_t component_count = 1;
  Component components[kMaxComponents];  ///< those that there are not: 1x1, as here
  std::uint32_t restart_interval = 0;    ///< MCUs; 0: no restart markers
  std::uint32_t scan_offset = 0;         ///< in the file, of the first byte of entropy-coded data
  std::uint32_t scan_size = 0;           ///< bytes of entropy-coded data

  bool operator==(const Frame&) const = default;

  static_assert(kMaxComponents == 3);
  IMGPACK_HD std::uint32_t max_h() const {
    const std::uint32_t most = components[0].h > components[1].h ? components[0].h : components[1].h;
    return components[2].h > most ? components[2].h : most;
  }
  IMGPACK_HD std::uint32_t max_v() const {
    const std::uint32_t most = components[0].v > components[1].v ? components[0].v : components[1].v;
    return components[2].v > most ? components[2].v : most;
  }
  IMGPACK_HD std::uint32_t mcu_width() const { return max_h() * kBlockSize; }  ///< pixels
  IMGPACK_HD std::uint32_t mcu_height() const { return max_v() * kBlockSize; }
  IMGPACK_HD std::uint32_t mcus_per_row() const { return (width + mcu_width() - 1) / mcu_width(); }
  IMGPACK_HD std::uint32_t mcu_rows() const { return (height + mcu_height() - 1) / mcu_height(); }
  IMGPACK_HD std::uint32_t blocks_per_mcu() const {
    std::uint32_t blocks = 0;
    for (std::uint32_t c = 0; c < component_count; ++c) blocks += components[c].h * components[c].v;
    return blocks;
  }
  /// Samples of a component that the image uses: T.81 A.1.1.
  IMGPACK_HD std::uint32_t component_width(std::uint32_t c) const {
    return (width * components[c].h + max_h() - 1) / max_h();
  }
  IMGPACK_HD std::uint32_t component_height(std::uint32_t c) const {
    return (height * components[c].v + max_v() - 1) / max_v();
  }
};

/// Whether sizes, sampling factors and colour model are such that a decoder can work with them: sides from 1 to
/// kMaxSide, at most kMaxBlocksInMcu blocks in an MCU, and factors that divide the largest.
IMGPACK_HD inline bool has_valid_geometry(const Frame& frame) {
  if (frame.width == 0 || frame.height == 0 || frame.width > kMaxSide || frame.height > kMaxSide) return false;
  if (frame.component_count != (frame.color == ColorModel::gray ? 1u : 3u)) return false;
  for (std::uint32_t c = 0; c < frame.component_count; ++c) {
    const Component& component = frame.components[c];
    if (component.h == 0 || component.h > kMaxSampling || component.v == 0 || component.v > kMaxSampling) return false;
  }
  const std::uint32_t max_h = frame.max_h();
  const std::uint32_t max_v = frame.max_v();
  for (std::uint32_t c = 0; c < frame.component_count; ++c) {
    if (max_h % frame.components[c].h != 0 || max_v % frame.components[c].v != 0) return false;
  }
  if (frame.component_count == 1 && (max_h != 1 || max_v != 1)) return false;
  return frame.blocks_per_mcu() <= kMaxBlocksInMcu;
}

}  // namespace imgpack::jpeg
