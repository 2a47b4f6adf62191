// Huffman decoding, a thread a segment: one flat loop that decodes a symbol an iteration, so that threads of a warp
// need not wait for each other at the ends of blocks.
//
// Each block of threads belongs to one image, whose tables it builds in shared memory from the DHT bytes: ImageNet's
// files have optimised tables of their own.
#include "reader/gpu/cuda_check.h"
#include "reader/gpu/kernels/entropy_bits.cuh"
#include "reader/gpu/kernels/entropy_blocks.cuh"
#include "reader/gpu/kernels/entropy_codes.cuh"
#include "reader/gpu/kernels/jpeg_kernels.h"

namespace imgpack::gpu {

namespace {

using namespace entropy;

constexpr std::uint32_t kThreads = kEntropySegments;

/// What the decoder has to know of each block of an MCU.
struct BlockPlan {
  std::uint8_t pair;
  std::uint8_t component;
};

__device__ inline void build_block_plans(const JpegTask& task, BlockPlan* plans) {
  const jpeg::Frame& frame = task.index.frame;
  std::uint32_t block = 0;
  for (std::uint32_t c = 0; c < frame.component_count; ++c) {
    for (std::uint32_t b = 0; b < std::uint32_t{frame.components[c].h} * frame.components[c].v; ++b) {
      plans[block++] = {task.table_pair[c], static_cast<std::uint8_t>(c)};
    }
  }
}

/// Which of the block's segments a thread takes: long ones with long ones, so that a warp's threads end at about the
/// same time.
__device__ inline std::uint32_t place_by_length(std::uint32_t bits, std::uint32_t* all) {
  constexpr std::uint32_t kMost = (1u << 24) - 1;
  all[threadIdx.x] = (bits < kMost ? bits : kMost) << 7 | threadIdx.x;  // all different
  __syncthreads();
  const std::uint32_t mine = all[threadIdx.x];
  std::uint32_t longer = 0;
  for (std::uint32_t i = 0; i < kThreads; ++i) longer += all[i] > mine ? 1 : 0;
  __syncthreads();
  return longer;
}

/// A segment's MCUs in the part.
struct Run {
  std::uint32_t mcus = 0;       ///< to be decoded
  std::uint32_t skipped = 0;    ///< of these, that lie before the part
  bool whole = false;           ///< its end is reached
  std::uint32_t first_mcu = 0;  ///< number in the image
  std::size_t first_block = 0;
};

__device__ inline Run run_of(const JpegTask& task, std::uint32_t i) {
  const jpeg::SegmentIndex& index = task.index;
  const jpeg::McuRange& columns = task.plan.columns;
  const std::uint32_t begin = (task.first_segment + i % task.segments_in_row) * index.segment_mcus;
  const std::uint32_t per_row = index.frame.mcus_per_row();
  const std::uint32_t whole_end = min(begin + index.segment_mcus, per_row);
  const std::uint32_t end = min(whole_end, columns.end);
  Run run;
  run.mcus = end - begin;
  run.skipped = begin < columns.first ? columns.first - begin : 0;
  run.whole = end == whole_end;
  const std::uint32_t row = i / task.segments_in_row;
  run.first_mcu = (task.plan.rows.first + row) * per_row + begin;
  run.first_block =
      (std::size_t{row} * task.columns() + (begin + run.skipped - columns.first)) * index.frame.blocks_per_mcu();
  return run;
}

struct Shared {
  Ring ring;
  union {
    std::uint32_t order[kThreads];  ///< before blocks are decoded
    Blocks blocks;
  };
  Tables tables;
  std::uint16_t places[jpeg::kBlockCoefficients];
  BlockPlan plans[jpeg::kMaxBlocksInMcu];
  std::int16_t dc[jpeg::kMaxComponents][kThreads];
};

/// Restart markers, where there are any.
struct Restarts {
  std::uint32_t interval;  ///< MCUs; 0: none
  std::uint32_t until;     ///< MCUs up to the next one
  std::uint32_t number;    ///< of the next one

  __device__ Restarts(std::uint32_t interval_, std::uint32_t first_mcu) : interval(interval_), until(0), number(0) {
    if (interval == 0) return;
    until = interval - first_mcu % interval;
    number = first_mcu / interval;
  }
};

/// A coefficient on its way to the block: where it goes is looked up while the next code is.
struct Pending {
  bool valid = false;
  std::uint32_t k = 0;
  std::int16_t value = 0;
};

/// False if the segment does not decode perfectly. DC predictors are those of shared.dc.
__device__ inline bool decode(const JpegTask& task, Shared& shared, const SegmentInfo& info, const Run& run) {
  const std::uint32_t blocks_per_mcu = task.index.frame.blocks_per_mcu();
  Bits bits(shared.ring, task.streams + std::size_t{info.stream} * 16, info.bits, info.first_bit);
  auto* out = reinterpret_cast<uint4*>(task.coefficients + run.first_block * jpeg::kBlockCoefficients);
  BlockBuffer buffer(shared.blocks);
  std::uint32_t skipped = run.skipped * blocks_per_mcu;
  std::uint32_t left = run.mcus * blocks_per_mcu;
  std::uint32_t block = 0;
  BlockPlan plan = shared.plans[0];
  std::uint32_t number = plan.pair * 2;  // of the table
  std::uint32_t k = 0;
  std::int32_t difference = 0;
  Pending pending;
  Restarts restarts(task.index.frame.restart_interval, run.first_mcu);
  while (left != 0) {
    const std::uint32_t head = bits.peek();
    const Table& table = shared.tables.all[number];
    Code code = table.look[head >> (32 - kLookBits)];
    const std::uint32_t place = shared.places[pending.k];
    if (code == 0) {
      code = find_long(shared.tables, task.tables, number, head >> 16);
      if (code == 0) return false;
    }
    if (pending.valid) buffer.put(place, pending.value);
    const std::uint32_t length = code & 31;
    const std::uint32_t size = code >> 5 & 15;
    const std::uint32_t raw = head << length;
    std::int32_t value = static_cast<std::int32_t>((raw >> 1) >> (31 - size));
    if ((raw >> 31) == 0) value -= (1 << size) - 1;
    bits.consume(length + size);
    if (k == 0) difference = value;
    const bool is_ac = k != 0;
    k += code >> 9;
    pending.valid = size != 0 && is_ac && k < jpeg::kBlockCoefficients && skipped == 0;
    pending.k = k & 63;
    pending.value = static_cast<std::int16_t>(value);
    number = plan.pair * 2 + 1;
    ++k;
    if (k >= jpeg::kBlockCoefficients) {
      if (k > jpeg::kBlockCoefficients && k <= kEndRun) return false;
      std::int16_t& predictor = shared.dc[plan.component][threadIdx.x];
      const auto dc = static_cast<std::int16_t>(predictor + difference);
      predictor = dc;
      if (pending.valid) buffer.put(shared.places[pending.k], pending.value);
      pending.valid = false;
      if (skipped != 0) {
        --skipped;
      } else {
        buffer.put(0, dc);
        buffer.flush(out);
        out += jpeg::kBlockCoefficients * sizeof(std::int16_t) / sizeof(uint4);
      }
      k = 0;
      --left;
      if (++block == blocks_per_mcu) {
        block = 0;
        // Behind the run's last MCU only where the next segment begins behind the marker.
        if (--restarts.until == 0 && restarts.interval != 0 && (left != 0 || (run.whole && info.checks_end))) {
          if (!bits.take_restart_marker(restarts.number++)) return false;
          for (std::uint32_t c = 0; c < jpeg::kMaxComponents; ++c) shared.dc[c][threadIdx.x] = 0;
          restarts.until = restarts.interval;
        }
      }
      plan = shared.plans[block];
      number = plan.pair * 2;
    }
  }
  const std::uint32_t end = bits.consumed();
  if (!run.whole || !info.checks_end) return end <= info.bits;
  bool same = end == info.end;
  for (std::uint32_t c = 0; c < jpeg::kMaxComponents; ++c) {
    same = same && shared.dc[c][threadIdx.x] == info.end_dc[c];
  }
  return same;
}

__global__ void __launch_bounds__(kThreads)
    decode_segments(const JpegTask* tasks, const Work* work, LeftSegments left) {
  __shared__ Shared shared;
  const Work mine = work[blockIdx.x];
  const JpegTask& task = tasks[mine.task];
  build_places(shared.places);
  if (threadIdx.x == kThreads - 1) build_block_plans(task, shared.plans);
  build_tables(task.tables, shared.tables);

  const std::uint32_t first = mine.part * kEntropySegments;
  const std::uint32_t count = min(task.segments() - first, kEntropySegments);
  const std::uint32_t bits = threadIdx.x < count ? task.infos[first + threadIdx.x].bits : 0;
  const std::uint32_t place = place_by_length(bits, shared.order);
  shared.order[place] = threadIdx.x;
  __syncthreads();
  const std::uint32_t i = first + shared.order[threadIdx.x];
  __syncthreads();
  if (i >= first + count) return;
  const SegmentInfo info = task.infos[i];
  for (std::uint32_t c = 0; c < jpeg::kMaxComponents; ++c) shared.dc[c][threadIdx.x] = info.dc[c];
  const bool good = !info.unusual && decode(task, shared, info, run_of(task, i));
  if (!good) left.items[atomicAdd(left.count, 1)] = {mine.task, i};
}

}  // namespace

void launch_entropy_decode(const JpegTask* tasks, const Work* work, std::uint32_t blocks, LeftSegments left,
                           cudaStream_t stream) {
  if (blocks == 0) return;
  decode_segments<<<blocks, kThreads, 0, stream>>>(tasks, work, left);
  check(cudaGetLastError(), "launching decode_segments");
}

}  // namespace imgpack::gpu
