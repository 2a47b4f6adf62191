// Images of predecoded pixels for the device to put into a batch, and their division among its blocks. No CUDA here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/image.h"
#include "reader/augment/sample_plan.h"
#include "reader/gpu/program/work.h"

namespace imgpack::gpu {

/// A stage that does not resize (PlanStage): crop, canvas, flip; pixels are packed 8-bit RGB.
struct RawTask {
  const std::uint8_t* source = nullptr;  ///< the crop's first pixel; an address of the device, of any alignment
  std::uint64_t source_stride = 0;       ///< bytes from row to row
  Size crop;                             ///< not empty
  Canvas canvas;                         ///< of the crop; its size is the image's in the batch
  bool flip = false;                     ///< left and right exchanged
  std::byte* out = nullptr;              ///< the image in the batch; aligned to the dtype
};

/// Images are cut into tiles that a block of threads can hold in shared memory.
struct RawTiling {
  static constexpr std::uint32_t kBufferBytes = 16u << 10;
  static constexpr std::uint32_t kMaxWidth = 1024;

  std::uint32_t width = 1;    ///< pixels of a tile
  std::uint32_t height = 1;   ///< pixels of a tile
  std::uint32_t columns = 1;  ///< tiles of an image
  std::uint32_t rows = 1;     ///< tiles of an image
  std::uint32_t pitch = 32;   ///< bytes of a tile's row in the buffer; a multiple of 16

  constexpr std::uint64_t tiles() const noexcept { return std::uint64_t{columns} * rows; }
};

/// For images of at most that size, which is not empty: tiles of nearly equal size.
inline RawTiling raw_tiling(Size image) noexcept {
  RawTiling tiling;
  tiling.columns = ceil_div(image.width, RawTiling::kMaxWidth);
  tiling.width = ceil_div(image.width, tiling.columns);
  // Whatever its address, a row of n bytes lies in at most so many blocks of 16 bytes.
  tiling.pitch = ceil_div(tiling.width * 3 + 15, 16) * 16;
  tiling.rows = ceil_div(image.height, RawTiling::kBufferBytes / tiling.pitch);
  tiling.height = ceil_div(image.height, tiling.rows);
  return tiling;
}

}  // namespace imgpack::gpu
