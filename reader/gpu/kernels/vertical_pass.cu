// Weighted sums of rows, and with that finished canvases: placed, padded, flipped, and converted to the batch's values
// where nothing comes after.
#include "reader/gpu/kernels/packed_rgb.h"
#include "reader/gpu/kernels/resample_kernels.h"
#include "reader/gpu/kernels/start.cuh"

namespace imgpack::gpu {

namespace {

constexpr std::uint32_t kThreads = 128;
constexpr std::uint32_t kPair = 2;  // neighbouring pixels of a thread

/// 8-bit RGB, packed.
struct CanvasWriter {
  std::uint8_t* image;
  __device__ void put(const StageTask& stage, std::uint32_t x, std::uint32_t y, std::uint32_t pixel) const {
    std::uint8_t* const at = image + (std::size_t{y} * stage.width + x) * 3;
    at[0] = static_cast<std::uint8_t>(pixel);
    at[1] = static_cast<std::uint8_t>(pixel >> 8);
    at[2] = static_cast<std::uint8_t>(pixel >> 16);
  }
  __device__ void put_pair(const StageTask& stage, std::uint32_t x, std::uint32_t y, std::uint32_t left,
                           std::uint32_t right) const {
    put(stage, x, y, left);
    put(stage, x + 1, y, right);
  }
};

template <class Value>
struct PairOf {
  Value left, right;
};
template <>
struct alignas(2) PairOf<std::uint8_t> {
  std::uint8_t left, right;
};
template <>
struct alignas(4) PairOf<std::uint16_t> {
  std::uint16_t left, right;
};
template <>
struct alignas(8) PairOf<float> {
  float left, right;
};

/// Values of a batch: looked up, except bytes, which are what they are.
template <class Value, Layout kLayout>
struct BatchWriter {
  Value* image;
  const Value* values;  ///< 3 x 256, in shared memory

  __device__ Value value(std::uint32_t pixel, std::uint32_t c) const {
    const std::uint32_t byte = pixel >> (8 * c) & 0xff;
    if constexpr (sizeof(Value) == 1) {
      return static_cast<Value>(byte);
    } else {
      return values[c * 256 + byte];
    }
  }
  __device__ void put(const StageTask& stage, std::uint32_t x, std::uint32_t y, std::uint32_t pixel) const {
    const std::size_t at = std::size_t{y} * stage.width + x;
    const std::size_t plane = std::size_t{stage.width} * stage.height;
#pragma unroll
    for (std::uint32_t c = 0; c < 3; ++c) {
      image[kLayout == Layout::nchw ? c * plane + at : at * 3 + c] = value(pixel, c);
    }
  }
  /// REQUIRES: an even width, so that pairs are aligned, and x is even.
  __device__ void put_pair(const StageTask& stage, std::uint32_t x, std::uint32_t y, std::uint32_t left,
                           std::uint32_t right) const {
    using Pair = PairOf<Value>;
    const std::size_t at = std::size_t{y} * stage.width + x;
    if constexpr (kLayout == Layout::nchw) {
      const std::size_t plane = std::size_t{stage.width} * stage.height;
#pragma unroll
      for (std::uint32_t c = 0; c < 3; ++c) {
        *reinterpret_cast<Pair*>(image + c * plane + at) = Pair{value(left, c), value(right, c)};
      }
    } else {
      auto* const pairs = reinterpret_cast<Pair*>(image + at * 3);
      pairs[0] = Pair{value(left, 0), value(left, 1)};
      pairs[1] = Pair{value(left, 2), value(right, 0)};
      pairs[2] = Pair{value(right, 1), value(right, 2)};
    }
  }
};

/// Column x of row i of the result.
__device__ inline std::uint32_t weigh(const StageTask& stage, std::uint32_t x, std::uint32_t first, std::uint32_t count,
                                      const std::int32_t* weights) {
  const std::uint32_t kept = stage.columns.request.kept;
  const std::uint32_t* at = stage.between + std::size_t{first - stage.row_begin} * kept + x;
  PixelSum sum;
  for (std::uint32_t t = 0; t < count; ++t, at += kept) sum.add(*at, weights[t]);
  return sum.finish();
}

/// Columns x and x + 1, which are aligned to two pixels.
__device__ inline uint2 weigh_pair(const StageTask& stage, std::uint32_t x, std::uint32_t first, std::uint32_t count,
                                   const std::int32_t* weights) {
  const std::uint32_t kept = stage.columns.request.kept;
  const auto* at = reinterpret_cast<const uint2*>(stage.between + std::size_t{first - stage.row_begin} * kept + x);
  PixelSum left;
  PixelSum right;
  for (std::uint32_t t = 0; t < count; ++t, at += kept / kPair) {
    const uint2 pixels = *at;
    left.add(pixels.x, weights[t]);
    right.add(pixels.y, weights[t]);
  }
  return {left.finish(), right.finish()};
}

/// Canvases that are the result, of even width: the usual case.
template <class Writer>
__device__ inline void make_plain_row(const StageTask& stage, std::uint32_t y, const Writer& writer) {
  const std::uint32_t first = stage.rows.first(y);
  const std::uint32_t count = stage.rows.count(y);
  const std::int32_t* const weights = stage.rows.weights(y);
  for (std::uint32_t x = kPair * threadIdx.x; x < stage.width; x += kPair * kThreads) {
    const uint2 pixels = weigh_pair(stage, x, first, count, weights);
    if (stage.flip) {
      writer.put_pair(stage, stage.width - kPair - x, y, pixels.y, pixels.x);
    } else {
      writer.put_pair(stage, x, y, pixels.x, pixels.y);
    }
  }
}

template <class Writer>
__device__ inline void make_row(const StageTask& stage, std::uint32_t y, const Writer& writer) {
  const std::uint32_t fill = pack_rgb(stage.fill[0], stage.fill[1], stage.fill[2]);
  const bool shown = y >= stage.place_top && y - stage.place_top < stage.rows.request.kept;
  const std::uint32_t i = shown ? y - stage.place_top : 0;
  for (std::uint32_t x = threadIdx.x; x < stage.width; x += kThreads) {
    std::uint32_t pixel = fill;
    if (shown && x >= stage.place_left && x - stage.place_left < stage.columns.request.kept) {
      pixel = weigh(stage, x - stage.place_left, stage.rows.first(i), stage.rows.count(i), stage.rows.weights(i));
    }
    writer.put(stage, stage.flip ? stage.width - 1 - x : x, y, pixel);
  }
}

template <class Writer>
__device__ inline void make_canvas_rows(const StageTask& stage, std::uint32_t part, const Writer& writer) {
  const bool plain = !stage.pads && stage.width % kPair == 0;
  const std::uint32_t first = part * kRowsOfCanvas;
  const std::uint32_t end = min(first + kRowsOfCanvas, stage.height);
  for (std::uint32_t y = first; y < end; ++y) {
    if (plain) {
      make_plain_row(stage, y, writer);
    } else {
      make_row(stage, y, writer);
    }
  }
}

template <class Value, Layout kLayout>
__global__ void __launch_bounds__(kThreads)
    pass_vertically(const StageTask* stages, const Work* work, const Value* table) {
  __shared__ Value values[sizeof(Value) == 1 ? 1 : 3 * 256];
  const Work mine = work[blockIdx.x];
  const StageTask& stage = stages[mine.task];
  if (stage.canvas != nullptr) return make_canvas_rows(stage, mine.part, CanvasWriter{stage.canvas});
  if constexpr (sizeof(Value) != 1) {
    for (std::uint32_t i = threadIdx.x; i < 3 * 256; i += kThreads) {
      values[i] = table[i];
    }
    __syncthreads();
  }
  make_canvas_rows(stage, mine.part, BatchWriter<Value, kLayout>{reinterpret_cast<Value*>(stage.out), values});
}

template <class Value>
void launch(const StageTask* stages, const Work* work, std::uint32_t blocks, const Value* table, Layout layout,
            cudaStream_t stream) {
  const auto kernel =
      layout == Layout::nchw ? pass_vertically<Value, Layout::nchw> : pass_vertically<Value, Layout::nhwc>;
  start("launching pass_vertically", kernel, blocks, kThreads, stream, stages, work, table);
}

}  // namespace

void launch_vertical_pass(const StageTask* stages, const Work* work, std::uint32_t blocks, const BatchValues& values,
                          cudaStream_t stream) {
  if (blocks == 0) return;
  switch (values.dtype) {
    case DType::u8:
      launch<std::uint8_t>(stages, work, blocks, nullptr, values.layout, stream);
      break;
    case DType::f16:
    case DType::bf16:
      launch<std::uint16_t>(stages, work, blocks, values.tables->half.data()->data(), values.layout, stream);
      break;
    case DType::f32:
      launch<float>(stages, work, blocks, values.tables->f32.data()->data(), values.layout, stream);
      break;
  }
}

}  // namespace imgpack::gpu
