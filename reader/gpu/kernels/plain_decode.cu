// Segments that the fast decoder has left over: damaged, or unusual, such as with fill bytes before a restart marker.
// What is damaged is decided here, by the rules of SEGMENTS.md; only bytes outside of what was brought to the device
// count as missing.
#include "codec/jpeg/plain_segment.h"
#include "codec/jpeg/zigzag.h"
#include "reader/gpu/kernels/jpeg_kernels.h"
#include "reader/gpu/kernels/start.cuh"

namespace imgpack::gpu {

namespace {

constexpr std::uint32_t kThreads = 64;
constexpr std::uint32_t kBlocks = 264;

__device__ inline bool decode(const JpegTask& task, std::uint32_t i) {
  jpeg::SegmentIndex index = task.index;
  jpeg::Frame& frame = index.frame;
  frame.scan_size = min(frame.scan_size, task.scan_end);
  const std::uint32_t segment = task.segment(i);
  if (index.start(segment).bit / 8 < task.scan_begin) return false;
  jpeg::PlainTables tables[jpeg::kMaxComponents];
  for (std::uint32_t c = 0; c < frame.component_count; ++c) {
    tables[c] = {task.tables.dc[task.table_pair[c]], task.tables.ac[task.table_pair[c]]};
  }
  constexpr jpeg::ZigzagOrder kOrder = jpeg::zigzag_order();
  const jpeg::McuRange& columns = task.plan.columns;
  const std::uint32_t per_mcu = frame.blocks_per_mcu();
  const std::size_t row = std::size_t{i / task.segments_in_row} * task.columns();
  const auto block_at = [&](std::uint32_t column, std::uint32_t block) {
    return task.coefficients + ((row + column - columns.first) * per_mcu + block) * jpeg::kBlockCoefficients;
  };
  // What the fast decoder may have written.
  const std::uint32_t begin = segment % index.segments_per_row() * index.segment_mcus;
  const std::uint32_t end = min(begin + index.segment_mcus, columns.end);
  for (std::uint32_t column = max(begin, columns.first); column < end; ++column) {
    auto* const words = reinterpret_cast<uint4*>(block_at(column, 0));
    for (std::uint32_t w = 0; w < per_mcu * jpeg::kBlockCoefficients / 8; ++w) words[w] = {0, 0, 0, 0};
  }
  return jpeg::decode_segment(index, task.scan, tables, segment, columns.end,
                              [&](std::uint32_t column, std::uint32_t block, std::uint32_t k, std::int16_t value) {
                                if (column < columns.first) return;
                                const std::uint32_t natural = kOrder.natural[k];
                                block_at(column, block)[natural % 8 * 8 + natural / 8] = value;
                              });
}

__global__ void __launch_bounds__(kThreads)
    decode_left_segments(const JpegTask* tasks, LeftSegments left, std::uint32_t* damaged) {
  const std::uint32_t count = *left.count;
  for (std::uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) {
    const LeftSegment item = left.items[i];
    const JpegTask& task = tasks[item.task];
    if (!decode(task, item.segment)) atomicMin(damaged + task.sample, task.segment(item.segment));
  }
}

}  // namespace

void launch_plain_decode(const JpegTask* tasks, LeftSegments left, std::uint32_t* damaged, cudaStream_t stream) {
  start("launching decode_left_segments", decode_left_segments, kBlocks, kThreads, stream, tasks, left, damaged);
}

}  // namespace imgpack::gpu
