// Pixel rows from the source, each made shorter or longer: a block of threads takes a few rows, brings their pixels
// into shared memory, a tile of columns at a time, and then each thread weighs the windows of one result column.
#include "reader/gpu/kernels/packed_rgb.h"
#include "reader/gpu/kernels/pixel_source.h"
#include "reader/gpu/kernels/resample_kernels.h"
#include "reader/gpu/kernels/start.cuh"

namespace imgpack::gpu {

namespace {

constexpr std::uint32_t kThreads = 256;

struct Tile {
  std::uint32_t pixels[kRowsOfPass][kTileColumns];
};

/// The rows of a block.
struct Rows {
  std::uint32_t first = 0;  ///< position on the vertical axis
  std::uint32_t count = 0;
};

constexpr std::uint32_t kThreadsOfRow = kThreads / kRowsOfPass;

/// Rows of a source that gives single pixels.
template <class Row, class Source>
struct SinglePixels {
  const Source& source;
  __device__ Row row(std::uint32_t y) const { return Row(source, y); }
  __device__ void fill(std::uint32_t y, std::uint32_t begin, std::uint32_t end, std::uint32_t* out) const {
    const Row pixels = row(y);
#pragma unroll 4
    for (std::uint32_t x = begin + threadIdx.x % kThreadsOfRow; x < end; x += kThreadsOfRow) {
      out[x - begin] = pixels.pixel(x);
    }
  }
};

/// Rows of a source that gives four pixels at a time.
struct Quads {
  const JpegTask& source;
  __device__ JpegRow row(std::uint32_t y) const { return JpegRow(source, y); }
  __device__ void fill(std::uint32_t y, std::uint32_t begin, std::uint32_t end, std::uint32_t* out) const {
    const QuadRow quads(source, y);
#pragma unroll 2
    for (std::uint32_t x = quads.begin_of(begin) + 4 * (threadIdx.x % kThreadsOfRow); x < end; x += 4 * kThreadsOfRow) {
      const uint4 pixels = quads.pixels(x);
      if (x >= begin) out[x - begin] = pixels.x;
      if (x + 1 >= begin && x + 1 < end) out[x + 1 - begin] = pixels.y;
      if (x + 2 >= begin && x + 2 < end) out[x + 2 - begin] = pixels.z;
      if (x + 3 >= begin && x + 3 < end) out[x + 3 - begin] = pixels.w;
    }
  }
};

/// Result columns [from, to) from tiles.
template <class Source>
__device__ inline void weigh_tile(const StageTask& stage, const Rows& rows, std::uint32_t from, std::uint32_t to,
                                  const Source& source, Tile& tile) {
  const AxisTable& axis = stage.columns;
  const std::uint32_t begin = axis.first(from);
  const std::uint32_t end = min(axis.first(to - 1) + axis.count(to - 1), stage.column_end);
  __syncthreads();  // the tile's last use is over
  const std::uint32_t r = threadIdx.x / kThreadsOfRow;
  if (r < rows.count) source.fill(stage.top + rows.first + r, stage.left + begin, stage.left + end, tile.pixels[r]);
  __syncthreads();
  std::uint32_t* const out = stage.between + std::size_t{rows.first - stage.row_begin} * axis.request.kept;
  for (std::uint32_t i = from + threadIdx.x; i < to; i += kThreads) {
    const std::int32_t* const weights = axis.weights(i);
    const std::uint32_t count = axis.count(i);
    const std::uint32_t first = axis.first(i) - begin;
    PixelSum sums[kRowsOfPass];
    for (std::uint32_t t = 0; t < count; ++t) {
      const std::int32_t weight = weights[t];
#pragma unroll
      for (std::uint32_t r = 0; r < kRowsOfPass; ++r) sums[r].add(tile.pixels[r][first + t], weight);
    }
#pragma unroll
    for (std::uint32_t r = 0; r < kRowsOfPass; ++r) {
      if (r < rows.count) out[std::size_t{r} * axis.request.kept + i] = sums[r].finish();
    }
  }
}

/// Windows wider than a tile: straight from the source.
template <class Source>
__device__ inline void weigh_wide(const StageTask& stage, const Rows& rows, const Source& source) {
  const AxisTable& axis = stage.columns;
  for (std::uint32_t r = 0; r < rows.count; ++r) {
    const auto row = source.row(stage.top + rows.first + r);
    std::uint32_t* const out = stage.between + std::size_t{rows.first + r - stage.row_begin} * axis.request.kept;
    for (std::uint32_t i = threadIdx.x; i < axis.request.kept; i += kThreads) {
      PixelSum sum;
      const std::int32_t* const weights = axis.weights(i);
      for (std::uint32_t t = 0; t < axis.count(i); ++t) sum.add(row.pixel(stage.left + axis.first(i) + t), weights[t]);
      out[i] = sum.finish();
    }
  }
}

template <class Source>
__device__ inline void make_rows(const StageTask& stage, const Rows& rows, const Source& source, Tile& tile) {
  if (stage.tile == 0) return weigh_wide(stage, rows, source);
  const std::uint32_t kept = stage.columns.request.kept;
  for (std::uint32_t from = 0; from < kept; from += stage.tile) {
    weigh_tile(stage, rows, from, min(from + stage.tile, kept), source, tile);
  }
}

__global__ void __launch_bounds__(kThreads)
    pass_horizontally(const StageTask* stages, const JpegTask* jpegs, const Work* work) {
  __shared__ Tile tile;
  const Work mine = work[blockIdx.x];
  const StageTask& stage = stages[mine.task];
  Rows rows;
  rows.first = stage.row_begin + mine.part * kRowsOfPass;
  rows.count = min(kRowsOfPass, stage.row_end - rows.first);
  if (rows.count < kRowsOfPass) {  // what is weighed of rows that are not there is thrown away, but must be something
    for (std::uint32_t i = threadIdx.x; i < kRowsOfPass * kTileColumns; i += kThreads) {
      tile.pixels[i / kTileColumns][i % kTileColumns] = 0;
    }
  }
  if (stage.jpeg == kNoTask) {
    make_rows(stage, rows, SinglePixels<PackedRow, StageTask>{stage}, tile);
  } else if (QuadRow::fits(jpegs[stage.jpeg])) {
    make_rows(stage, rows, Quads{jpegs[stage.jpeg]}, tile);
  } else {
    make_rows(stage, rows, SinglePixels<JpegRow, JpegTask>{jpegs[stage.jpeg]}, tile);
  }
}

}  // namespace

void launch_horizontal_pass(const StageTask* stages, const JpegTask* jpegs, const Work* work, std::uint32_t blocks,
                            cudaStream_t stream) {
  if (blocks == 0) return;
  start("launching pass_horizontally", pass_horizontally, blocks, kThreads, stream, stages, jpegs, work);
}

}  // namespace imgpack::gpu
