// The block of coefficients that a thread puts together in shared memory. Device code only, for blocks of
// kEntropySegments threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/jpeg/zigzag.h"
#include "reader/gpu/program/work.h"

namespace imgpack::gpu::entropy {

inline constexpr std::uint32_t kColumnBytes = kEntropySegments * 16;  // of all threads

/// The blocks that threads are decoding, column by column. They go to memory in pieces of 16 bytes, few of which
/// are not zeros: a store for each coefficient would keep the memory pipes busy with single bytes.
struct Blocks {
  uint4 columns[8][kEntropySegments];  ///< of thread t: columns[...][t]; zeros where nothing is yet
};

/// Where a coefficient in zigzag order goes, in bytes from the thread's first column.
__device__ inline void build_places(std::uint16_t* places) {
  constexpr jpeg::ZigzagOrder kOrder = jpeg::zigzag_order();
  if (threadIdx.x < jpeg::kBlockCoefficients) {
    const std::uint32_t natural = kOrder.natural[threadIdx.x];
    places[threadIdx.x] = static_cast<std::uint16_t>(natural % 8 * kColumnBytes + natural / 8 * 2);
  }
}

/// The thread's block in shared memory, and which of its columns hold something.
class BlockBuffer {
 public:
  __device__ explicit BlockBuffer(Blocks& blocks)
      : first_(reinterpret_cast<std::byte*>(&blocks.columns[0][threadIdx.x])) {
    for (std::uint32_t x = 0; x < 8; ++x) column(x) = {0, 0, 0, 0};
  }
  /// `place`: as build_places() makes it.
  __device__ void put(std::uint32_t place, std::int16_t value) {
    *reinterpret_cast<std::int16_t*>(first_ + place) = value;
    used_ |= 1u << (place / kColumnBytes);
  }
  /// Moves the block to memory, which holds zeros.
  __device__ void flush(uint4* out) {
    while (used_ != 0) {
      const std::uint32_t x = __ffs(static_cast<int>(used_)) - 1;
      used_ &= used_ - 1;
      out[x] = column(x);
      column(x) = {0, 0, 0, 0};
    }
  }

 private:
  __device__ uint4& column(std::uint32_t x) { return *reinterpret_cast<uint4*>(first_ + x * kColumnBytes); }

  std::byte* first_;
  std::uint32_t used_ = 0;
};

}  // namespace imgpack::gpu::entropy
