// Huffman decoding, a thread a segment: one flat loop that decodes a symbol a turn, so that threads of a warp need not
// wait for each other's blocks to end.
//
// Each block of threads belongs to one image, whose tables it builds in shared memory from the DHT bytes: ImageNet's
// files have optimised tables of their own.
#include <cstddef>

#include "reader/gpu/kernels/entropy_bits.cuh"
#include "reader/gpu/kernels/entropy_blocks.cuh"
#include "reader/gpu/kernels/entropy_codes.cuh"
#include "reader/gpu/kernels/jpeg_kernels.h"
#include "reader/gpu/kernels/start.cuh"

namespace imgpack::gpu {

namespace {

using namespace entropy;

constexpr std::uint32_t kThreads = kEntropySegments;
constexpr auto kTableBytes = static_cast<std::uint32_t>(sizeof(Table));

/// What the decoder has to know of each block of an MCU: the pair of tables and the component, in three bits each.
class BlockPlans {
 public:
  __device__ explicit BlockPlans(const JpegTask& task) {
    static_assert(kTablePairs == 2 && jpeg::kMaxComponents <= 4 && jpeg::kMaxBlocksInMcu <= 10);
    const jpeg::Frame& frame = task.index.frame;
    std::uint32_t block = 0;
    for (std::uint32_t c = 0; c < frame.component_count; ++c) {
      for (std::uint32_t b = 0; b < std::uint32_t{frame.components[c].h} * frame.components[c].v; ++b) {
        plans_ |= (c << 1 | task.table_pair[c]) << (3 * block++);
      }
    }
  }
  __device__ std::uint32_t pair(std::uint32_t block) const { return plans_ >> (3 * block) & 1; }
  __device__ std::uint32_t component(std::uint32_t block) const { return plans_ >> (3 * block + 1) & 3; }

 private:
  std::uint32_t plans_ = 0;
};

/// DC predictors of components, in registers.
class Predictors {
 public:
  __device__ explicit Predictors(const std::int16_t* dc) {
    for (std::uint32_t c = 0; c < jpeg::kMaxComponents; ++c) dc_[c] = dc[c];
  }
  __device__ std::int16_t add(std::uint32_t component, std::int32_t difference) {
    std::int16_t sum = 0;
#pragma unroll
    for (std::uint32_t c = 0; c < jpeg::kMaxComponents; ++c) {
      if (c != component) continue;
      sum = static_cast<std::int16_t>(dc_[c] + difference);
      dc_[c] = sum;
    }
    return sum;
  }
  __device__ void clear() {
    for (std::int16_t& dc : dc_) dc = 0;
  }
  __device__ bool are(const std::int16_t* dc) const {
    bool same = true;
    for (std::uint32_t c = 0; c < jpeg::kMaxComponents; ++c) same = same && dc_[c] == dc[c];
    return same;
  }

 private:
  std::int16_t dc_[jpeg::kMaxComponents];
};

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

/// False if the segment does not decode perfectly.
///
/// In nearly every turn some thread of a warp ends a block, and some thread needs more of its stream, while the others
/// wait. So these ways are short, and hardly ever wait for memory themselves.
__device__ inline bool decode(const JpegTask& task, Shared& shared, const SegmentInfo& info, const Run& run) {
  const std::uint32_t blocks_per_mcu = task.index.frame.blocks_per_mcu();
  const BlockPlans plans(task);
  const std::uint32_t long_begins[] = {shared.tables.all[1].limit[kLookBits], shared.tables.all[3].limit[kLookBits]};
  const SharedAddress tables(shared.tables.all);
  const SharedAddress longs(shared.tables.longs);
  const SharedAddress places(shared.places);
  Bits bits(shared.ring, task.streams + std::size_t{info.stream} * 16, info.bits, info.first_bit);
  auto* out = reinterpret_cast<uint4*>(task.coefficients + run.first_block * jpeg::kBlockCoefficients);
  BlockBuffer buffer(shared.blocks);
  Predictors predictors(info.dc);
  std::uint32_t skipped = run.skipped * blocks_per_mcu;
  std::uint32_t left = run.mcus * blocks_per_mcu;
  std::uint32_t block = 0;
  std::uint32_t pair = plans.pair(0);
  std::uint32_t k = 0;
  Pending pending;
  bool ended = false;  // the last turn has ended a block
  Restarts restarts(task.index.frame.restart_interval, run.first_mcu);
  while (true) {
    const std::uint32_t head = bits.peek();
    const std::uint32_t number = pair * 2 + (k == 0 ? 0 : 1);  // of the table
    static_assert(offsetof(Table, look) == 0);
    Code code = tables.load_half(number * kTableBytes + (head >> (32 - kLookBits)) * 2);
    buffer.put_if(pending.valid, places.load_half(pending.k * 2), pending.value);
    if (ended) {
      ended = false;
      if (skipped != 0) {
        --skipped;
      } else {
        buffer.flush(out);
        out += jpeg::kBlockCoefficients * sizeof(std::int16_t) / sizeof(uint4);
      }
      if (left == 0) break;
    }
    if (code == 0) {
      const std::uint32_t beyond = (head >> 16) - (pair == 0 ? long_begins[0] : long_begins[1]);
      if (k != 0 && beyond < kLongCodes) {
        code = longs.load_half((pair * kLongCodes + beyond) * 2);
      } else {
        code = find_long(shared.tables.all[number], dht_of(task.tables, number), k == 0, head >> 16);
      }
      if (code == 0) return false;
    }
    const std::uint32_t length = code & 31;
    const std::uint32_t size = code >> 5 & 15;
    const std::uint32_t raw = head << length;
    std::int32_t value = static_cast<std::int32_t>((raw >> 1) >> (31 - size));
    if ((raw >> 31) == 0) value -= (1 << size) - 1;
    bits.consume(length + size);
    const bool is_dc = k == 0;
    if (is_dc) value = predictors.add(plans.component(block), value);
    k += code >> 9;
    pending.valid = (is_dc || size != 0) && k < jpeg::kBlockCoefficients && skipped == 0;
    pending.k = k & 63;
    pending.value = static_cast<std::int16_t>(value);
    ++k;
    if (k >= jpeg::kBlockCoefficients) {
      if (k > jpeg::kBlockCoefficients && k <= kEndRun) return false;
      ended = true;
      k = 0;
      --left;
      if (++block == blocks_per_mcu) {
        block = 0;
        // Behind the run's last MCU only where the next segment begins behind the marker.
        if (--restarts.until == 0 && restarts.interval != 0 && (left != 0 || (run.whole && info.checks_end))) {
          if (!bits.take_restart_marker(restarts.number++)) return false;
          predictors.clear();
          restarts.until = restarts.interval;
        }
      }
      pair = plans.pair(block);
    }
  }
  const std::uint32_t end = bits.consumed();
  if (!run.whole || !info.checks_end) return end <= info.bits;
  return end == info.end && predictors.are(info.end_dc);
}

__global__ void __launch_bounds__(kThreads)
    decode_segments(const JpegTask* tasks, const Work* work, LeftSegments left) {
  __shared__ Shared shared;
  const Work mine = work[blockIdx.x];
  const JpegTask& task = tasks[mine.task];
  build_places(shared.places);
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
  const bool good = !info.unusual && decode(task, shared, info, run_of(task, i));
  if (!good) left.items[atomicAdd(left.count, 1)] = {mine.task, i};
}

}  // namespace

void launch_entropy_decode(const JpegTask* tasks, const Work* work, std::uint32_t blocks, LeftSegments left,
                           cudaStream_t stream) {
  if (blocks == 0) return;
  start("launching decode_segments", decode_segments, blocks, kThreads, stream, tasks, work, left);
}

}  // namespace imgpack::gpu
