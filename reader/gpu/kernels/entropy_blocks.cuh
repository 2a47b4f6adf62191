// The block of coefficients that a thread puts together in shared memory. Device code only, for blocks of
// kEntropySegments threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/jpeg/zigzag.h"
#include "reader/gpu/kernels/shared_address.cuh"
#include "reader/gpu/program/work.h"

namespace imgpack::gpu::entropy {

inline constexpr std::uint32_t kColumnBytes = kEntropySegments * 16;  // of all threads

/// The blocks that threads are decoding, column by column. They go to memory in pieces of 16 bytes, few of which
/// are not zeros: a store for each coefficient would keep the memory pipes busy with single bytes.
struct Blocks {
  uint4 columns[8][kEntropySegments];  ///< of thread t: columns[...][t]; zeros where nothing is yet
};

__device__ constexpr jpeg::ZigzagOrder kZigzag = jpeg::zigzag_order();

/// Where a coefficient in zigzag order goes, in bytes from the thread's first column.
__device__ inline void build_places(std::uint16_t* places) {
  if (threadIdx.x < jpeg::kBlockCoefficients) {
    const std::uint32_t natural = kZigzag.natural[threadIdx.x];
    places[threadIdx.x] = static_cast<std::uint16_t>(natural % 8 * kColumnBytes + natural / 8 * 2);
  }
}

/// The thread's block in shared memory, and which of its columns hold something.
class BlockBuffer {
 public:
  __device__ explicit BlockBuffer(Blocks& blocks) : first_(&blocks.columns[0][threadIdx.x]) {
    for (std::uint32_t x = 0; x < 8; ++x) first_.store(x * kColumnBytes, uint4{0, 0, 0, 0});
  }
  /// `place`: as build_places() makes it.
  __device__ void put_if(bool condition, std::uint32_t place, std::int16_t value) {
    first_.store_if(condition, place, value);
    used_ |= condition ? 1u << (place / kColumnBytes) : 0;
  }
  /// Moves the block to memory, which holds zeros. Other threads of the warp wait meanwhile, so that as much as
  /// possible is done at the same time.
  __device__ void flush(uint4* out) {
#pragma unroll
    for (std::uint32_t half = 0; half < 8; half += 4) {
      uint4 columns[4];
#pragma unroll
      for (std::uint32_t i = 0; i < 4; ++i) columns[i] = first_.load((half + i) * kColumnBytes);
#pragma unroll
      for (std::uint32_t i = 0; i < 4; ++i) {
        if ((used_ >> (half + i) & 1) == 0) continue;
        out[half + i] = columns[i];
        first_.store((half + i) * kColumnBytes, uint4{0, 0, 0, 0});
      }
    }
    used_ = 0;
  }

 private:
  SharedAddress first_;
  std::uint32_t used_ = 0;
};

}  // namespace imgpack::gpu::entropy
