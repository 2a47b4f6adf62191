#include "reader/gpu/kernels/raw_images.h"

#include <cuda_pipeline_primitives.h>

#include "reader/gpu/kernels/gather_copy.cuh"
#include "reader/gpu/kernels/launch.h"
#include "reader/gpu/kernels/start.cuh"
#include "reader/gpu/kernels/stored_value.h"

namespace imgpack::gpu {

namespace {

constexpr int kThreads = kGatherThreads;
constexpr int kWarp = 32;
constexpr int kWarps = kThreads / kWarp;

// Device functions are inline, as nvcc gives others a body for the host that ends the process.

/// A tile of one image, and the part of the record that it shows. All in pixels; the same for all threads of a block.
struct Tile {
  std::uint32_t x, y, width, height;        ///< in the batch's image, after the flip
  std::uint32_t crop_x, crop_y;             ///< of the first shown pixel, in the crop
  std::uint32_t shown_width, shown_height;  ///< both 0 if nothing is shown
  const std::uint8_t* source;               ///< of the first shown pixel
  std::uint64_t stride;
  bool contiguous;  ///< no gaps between shown rows

  __device__ std::uint32_t row_bytes() const { return shown_width * 3; }
  /// Where shown row `row` begins in the buffer.
  __device__ std::uint32_t buffer_offset(std::uint32_t row, std::uint32_t pitch) const {
    const auto address = reinterpret_cast<std::uintptr_t>(source);
    if (contiguous) return static_cast<std::uint32_t>(address % 16) + row * row_bytes();
    return row * pitch + static_cast<std::uint32_t>((address + row * stride) % 16);
  }
};

struct Span {
  std::uint32_t begin, length;
};
/// The part of [0, size) that [begin, begin + length) covers.
__device__ inline Span covered(std::int64_t begin, std::uint32_t length, std::uint32_t size) {
  const std::int64_t first = begin < 0 ? 0 : begin;
  const std::int64_t end = begin + length < size ? begin + length : size;
  return first < end ? Span{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first)} : Span{0, 0};
}

__device__ inline Tile make_tile(const RawTask& task, const RawTiling& tiling, std::uint32_t number) {
  Tile tile{};
  tile.x = number % tiling.columns * tiling.width;
  tile.y = number / tiling.columns * tiling.height;
  const Size size = task.canvas.size;
  if (tile.x >= size.width || tile.y >= size.height) return tile;  // a smaller image than others
  tile.width = min(tiling.width, size.width - tile.x);
  tile.height = min(tiling.height, size.height - tile.y);
  const std::uint32_t before_flip = task.flip ? size.width - tile.x - tile.width : tile.x;
  const Span columns = covered(std::int64_t{task.canvas.left} + before_flip, tile.width, task.crop.width);
  const Span rows = covered(std::int64_t{task.canvas.top} + tile.y, tile.height, task.crop.height);
  tile.crop_x = columns.begin;
  tile.crop_y = rows.begin;
  tile.shown_width = rows.length == 0 ? 0 : columns.length;
  tile.shown_height = columns.length == 0 ? 0 : rows.length;
  tile.stride = task.source_stride;
  tile.source = task.source + rows.begin * task.source_stride + std::uint64_t{columns.begin} * 3;
  tile.contiguous = tile.row_bytes() == tile.stride || tile.shown_height <= 1;
  return tile;
}

/// Copies the 16-byte blocks that hold [source, source + bytes) to `to`; threads or lanes are `stride` many. Warps
/// begin at lines of 128 bytes, so that each of their requests is one over the bus.
__device__ inline void fetch_blocks(const std::uint8_t* source, std::uint32_t bytes, std::uint8_t* to, int thread,
                                    int stride) {
  const auto address = reinterpret_cast<std::uintptr_t>(source);
  const std::uint8_t* const from = source - address % 16;
  const int blocks = static_cast<int>((address % 16 + bytes + 15) / 16);
  const int lead = static_cast<int>(address / 16 % 8);
  for (int i = thread - lead; i < blocks; i += stride) {
    if (i >= 0) __pipeline_memcpy_async(to + i * 16, from + i * 16, 16);
  }
}

/// Starts reading what a tile shows.
__device__ inline void fetch(const Tile& tile, std::uint32_t pitch, std::uint8_t* buffer) {
  if (tile.shown_height == 0) return;
  const int thread = static_cast<int>(threadIdx.x);
  if (tile.contiguous) {
    return fetch_blocks(tile.source, tile.shown_height * tile.row_bytes(), buffer, thread, kThreads);
  }
  for (std::uint32_t row = thread / kWarp; row < tile.shown_height; row += kWarps) {
    fetch_blocks(tile.source + row * tile.stride, tile.row_bytes(), buffer + row * pitch, thread % kWarp, kWarp);
  }
}

/// A batch's values of one dtype.
template <DType kType>
using Value = typename StoredValue<kType>::Type;

/// Its bits, as the low ones of a word.
template <DType kType>
__device__ std::uint32_t bits_of(Value<kType> value) {
  if constexpr (kType == DType::f32) return __float_as_uint(value);
  else return value;
}

/// One row of a tile, of packed pixels or of one channel, as the batch's values.
template <DType kType, Layout kLayout>
struct Line {
  const std::uint8_t* pixels;  ///< of the first shown pixel; nullptr: all is fill
  const Value<kType>* look_up;
  std::int64_t shown_begin;    ///< of pixels before the flip, from the tile's first one on
  std::uint32_t shown_width, width, channel;
  std::uint32_t fill;  ///< R, G, B from the lowest byte on
  bool flip;

  __device__ Value<kType> value(std::uint32_t index) const {
    const std::uint32_t pixel = kLayout == Layout::nhwc ? index / 3 : index;
    const std::uint32_t c = kLayout == Layout::nhwc ? index % 3 : channel;
    const std::int64_t at = std::int64_t{flip ? width - 1 - pixel : pixel} - shown_begin;
    const bool shown = pixels != nullptr && at >= 0 && at < shown_width;
    const std::uint8_t byte = shown ? pixels[at * 3 + c] : static_cast<std::uint8_t>(fill >> (c * 8));
    if constexpr (kType == DType::u8) return byte;
    else return look_up[c * 256 + byte];
  }
};

/// `count` values to `out` by one warp: each lane makes whole aligned words of 32 bits.
template <DType kType, Layout kLayout>
__device__ void write_line(const Line<kType, kLayout>& line, std::uint32_t count, std::byte* out) {
  constexpr int kBytes = sizeof(Value<kType>);
  constexpr int kPerWord = 4 / kBytes;
  auto* const values = reinterpret_cast<Value<kType>*>(out);
  const int head = static_cast<int>(reinterpret_cast<std::uintptr_t>(out) % 4 / kBytes);
  const int end = static_cast<int>(count);
  for (int first = static_cast<int>(threadIdx.x) % kWarp * kPerWord - head; first < end; first += kWarp * kPerWord) {
    if (first >= 0 && first + kPerWord <= end) {
      std::uint32_t word = 0;
#pragma unroll
      for (int k = 0; k < kPerWord; ++k) {
        word |= bits_of<kType>(line.value(first + k)) << (k * 8 * kBytes);
      }
      *reinterpret_cast<std::uint32_t*>(values + first) = word;
    } else {
      for (int k = 0; k < kPerWord; ++k) {
        if (first + k >= 0 && first + k < end) values[first + k] = line.value(first + k);
      }
    }
  }
}

/// Writes a tile whose pixels are in the buffer.
template <DType kType, Layout kLayout>
__device__ void convert(const Tile& tile, const RawTask& task, std::uint32_t pitch, const std::uint8_t* buffer,
                        const Value<kType>* look_up) {
  constexpr bool kPlanar = kLayout == Layout::nchw;
  const Size size = task.canvas.size;
  const std::uint32_t before_flip = task.flip ? size.width - tile.x - tile.width : tile.x;
  Line<kType, kLayout> line{};
  line.look_up = look_up;
  line.shown_begin = std::int64_t{tile.crop_x} - task.canvas.left - before_flip;
  line.shown_width = tile.shown_width;
  line.width = tile.width;
  line.flip = task.flip;
  for (int c = 0; c < 3; ++c) line.fill |= std::uint32_t{task.canvas.fill[c]} << (c * 8);
  const std::uint32_t lines = kPlanar ? tile.height * 3 : tile.height;
  for (std::uint32_t i = threadIdx.x / kWarp; i < lines; i += kWarps) {
    const std::uint32_t row = kPlanar ? i % tile.height : i;
    line.channel = kPlanar ? i / tile.height : 0;
    const std::uint64_t y = std::uint64_t{tile.y} + row;
    const std::int64_t shown_row = static_cast<std::int64_t>(y) + task.canvas.top - tile.crop_y;
    const bool shown = shown_row >= 0 && shown_row < tile.shown_height;
    line.pixels = shown ? buffer + tile.buffer_offset(static_cast<std::uint32_t>(shown_row), pitch) : nullptr;
    const std::uint64_t first = kPlanar ? (line.channel * std::uint64_t{size.height} + y) * size.width + tile.x
                                        : (y * size.width + tile.x) * 3;
    write_line(line, kPlanar ? tile.width : tile.width * 3, task.out + first * sizeof(Value<kType>));
  }
}

/// Whether a tile's bytes can go to the batch as they are, in blocks of 16: the address there, or nullptr.
template <DType kType, Layout kLayout>
__device__ std::byte* plain_destination(const Tile& tile, const RawTask& task) {
  if constexpr (kType != DType::u8 || kLayout != Layout::nhwc) return nullptr;
  const bool whole_rows = tile.width == task.canvas.size.width && tile.shown_width == tile.width;
  if (!whole_rows || tile.shown_height != tile.height || !tile.contiguous || task.flip) return nullptr;
  std::byte* const out = task.out + std::uint64_t{tile.y} * tile.row_bytes();
  const auto difference = reinterpret_cast<std::uintptr_t>(out) - reinterpret_cast<std::uintptr_t>(tile.source);
  return tile.shown_height != 0 && difference % 16 == 0 ? out : nullptr;
}

__device__ inline void copy_plain(const Tile& tile, std::byte* out) {
  const std::uint32_t bytes = tile.shown_height * tile.row_bytes();
  const auto shift = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(tile.source) % 16);
  copy_units(reinterpret_cast<const std::byte*>(tile.source), out, bytes, 0, (shift + bytes + 15) / 16);
}

/// Blocks loop over tiles; while one is written, the next one is on its way.
template <DType kType, Layout kLayout>
__global__ void __launch_bounds__(kThreads)
    raw_kernel(const RawTask* tasks, std::uint64_t tiles, RawTiling tiling, const ValueTables* tables) {
  alignas(16) __shared__ std::uint8_t buffers[2][RawTiling::kBufferBytes];
  __shared__ Value<kType> look_up[kType == DType::u8 ? 1 : 3 * 256];
  if constexpr (kType != DType::u8) {
    for (int i = static_cast<int>(threadIdx.x); i < 3 * 256; i += kThreads) {
      if constexpr (kType == DType::f32) look_up[i] = tables->f32[i / 256][i % 256];
      else look_up[i] = tables->half[i / 256][i % 256];
    }
  }
  const auto per_image = static_cast<std::uint32_t>(tiling.tiles());
  const auto begin = [&](std::uint64_t number, std::uint8_t* buffer) {
    const RawTask& task = tasks[number / per_image];
    const Tile tile = make_tile(task, tiling, static_cast<std::uint32_t>(number % per_image));
    if (plain_destination<kType, kLayout>(tile, task) == nullptr) fetch(tile, tiling.pitch, buffer);
  };
  int current = 0;
  if (blockIdx.x < tiles) begin(blockIdx.x, buffers[0]);
  __pipeline_commit();
  for (std::uint64_t number = blockIdx.x; number < tiles; number += gridDim.x, current ^= 1) {
    if (number + gridDim.x < tiles) begin(number + gridDim.x, buffers[current ^ 1]);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const RawTask& task = tasks[number / per_image];
    const Tile tile = make_tile(task, tiling, static_cast<std::uint32_t>(number % per_image));
    if (std::byte* const out = plain_destination<kType, kLayout>(tile, task)) {
      copy_plain(tile, out);
    } else {
      convert<kType, kLayout>(tile, task, tiling.pitch, buffers[current], look_up);
    }
    __syncthreads();  // before this buffer is filled again
  }
}

template <DType kType>
void launch(const RawTask* tasks, std::uint64_t tiles, const RawTiling& tiling, const BatchValues& values,
            cudaStream_t stream, unsigned blocks) {
  const auto kernel = values.layout == Layout::nchw ? raw_kernel<kType, Layout::nchw> : raw_kernel<kType, Layout::nhwc>;
  start("making images of raw pixels", kernel, blocks, kThreads, stream, tasks, tiles, tiling, values.tables);
}

}  // namespace

void launch_raw_images(const RawTask* tasks, std::uint32_t count, Size max_canvas, const BatchValues& values,
                       cudaStream_t stream, int blocks) {
  if (count == 0 || max_canvas.width == 0 || max_canvas.height == 0) return;
  const RawTiling tiling = raw_tiling(max_canvas);
  const std::uint64_t tiles = tiling.tiles() * count;
  const unsigned grid = persistent_blocks(blocks, tiles);
  switch (values.dtype) {
    case DType::u8:
      launch<DType::u8>(tasks, tiles, tiling, values, stream, grid);
      break;
    case DType::f32:
      launch<DType::f32>(tasks, tiles, tiling, values, stream, grid);
      break;
    case DType::f16:
      launch<DType::f16>(tasks, tiles, tiling, values, stream, grid);
      break;
    case DType::bf16:
      launch<DType::bf16>(tasks, tiles, tiling, values, stream, grid);
      break;
  }
}

}  // namespace imgpack::gpu
