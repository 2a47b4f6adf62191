// Huffman decoding, a thread a segment: one flat loop that decodes a symbol an iteration, so that threads of a warp
// need not wait for each other at the ends of blocks.
//
// Each block of threads belongs to one image, whose tables it builds in shared memory from the DHT bytes: ImageNet's
// files have optimised tables of their own.
#include "codec/jpeg/huffman.h"
#include "codec/jpeg/zigzag.h"
#include "reader/gpu/cuda_check.h"
#include "reader/gpu/kernels/jpeg_kernels.h"

namespace imgpack::gpu {

namespace {

constexpr std::uint32_t kThreads = kEntropySegments;
constexpr std::uint32_t kLookBits = 10;
constexpr std::uint32_t kRestBits = jpeg::kMaxCodeLength - kLookBits;
constexpr std::uint32_t kLongCodes = 512;  // values of 16 bits

// A looked-up code: bits 0-4 its length, 5-8 how many bits of the coefficient follow, 9-15 how many zeros come before.
// 0: longer than the lookup, or no code.
using Code = std::uint32_t;
constexpr std::uint32_t kEndRun = 127;

__device__ inline Code describe(std::uint32_t byte, std::uint32_t length, bool is_dc) {
  if (is_dc) return length | byte << 5;
  const std::uint32_t run = byte >> 4;
  const std::uint32_t size = byte & 15;
  if (size == 0 && run == 0) return length | kEndRun << 9;
  if (size == 0 && run != 15) return 0;
  return length | size << 5 | run << 9;
}

/// In shared memory. A code is found by its first kLookBits bits, or, where it is longer, by the next kRestBits too.
struct Table {
  std::uint16_t look[1u << kLookBits];
  std::uint32_t limit[jpeg::kMaxCodeLength + 1];        ///< first 16-bit value beyond the codes of this length
  std::int32_t first_symbol[jpeg::kMaxCodeLength + 1];  ///< symbol = first_symbol + code
  std::uint32_t long_begin;                             ///< 16-bit value that longs[0] is of, a multiple of 2^kRestBits
  std::uint16_t longs[kLongCodes];
};

/// The code at the head of 16 bits, of at least `from` bits.
__device__ inline Code find(const Table& table, const std::uint8_t* dht, bool is_dc, std::uint32_t bits,
                            std::uint32_t from) {
  for (std::uint32_t length = from; length <= jpeg::kMaxCodeLength; ++length) {
    if (bits < table.limit[length]) {
      const auto code = static_cast<std::int32_t>(bits >> (jpeg::kMaxCodeLength - length));
      return describe(dht[jpeg::kHuffmanCounts + ((table.first_symbol[length] + code) & 255)], length, is_dc);
    }
  }
  return 0;
}

/// A code longer than kLookBits. Most files have few of them, all of which are in `longs`.
__device__ inline Code find_long(const Table& table, const std::uint8_t* dht, bool is_dc, std::uint32_t bits) {
  if (bits < table.long_begin) return 0;  // a short code of a symbol that makes no sense
  const std::uint32_t number = bits - table.long_begin;
  if (number < kLongCodes) return table.longs[number];
  return find(table, dht, is_dc, bits, kLookBits + 1);
}

/// Four tables at a time: DC and AC of each pair.
constexpr std::uint32_t kTables = 2 * kTablePairs;

__device__ inline const std::uint8_t* dht_of(const JpegTables& tables, std::uint32_t table) {
  return table % 2 == 0 ? tables.dc[table / 2] : tables.ac[table / 2];
}

__device__ inline void build_limits(const std::uint8_t* dht, Table& table) {
  std::uint32_t code = 0;
  std::uint32_t number = 0;
  table.limit[0] = 0;
  table.first_symbol[0] = 0;
  for (std::uint32_t length = 1; length <= jpeg::kMaxCodeLength; ++length) {
    const std::uint32_t count = dht[length - 1];
    table.first_symbol[length] = static_cast<std::int32_t>(number) - static_cast<std::int32_t>(code);
    code += count;
    number += count;
    table.limit[length] = count == 0 ? table.limit[length - 1] : code << (jpeg::kMaxCodeLength - length);
    code <<= 1;
  }
  // Codes grow with their length: the long ones are at the end.
  table.long_begin = table.limit[kLookBits] >> kRestBits << kRestBits;
}

__device__ inline void build_tables(const JpegTables& from, Table* tables) {
  if (threadIdx.x < kTables) build_limits(dht_of(from, threadIdx.x), tables[threadIdx.x]);
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < kTables << kLookBits; i += kThreads) {
    const std::uint32_t t = i >> kLookBits;
    const std::uint32_t look = i & ((1u << kLookBits) - 1);
    const Code code = find(tables[t], dht_of(from, t), t % 2 == 0, look << kRestBits, 1);
    // Bits that are not known yet read as zeros: what depends on them is not decided here.
    tables[t].look[look] = static_cast<std::uint16_t>((code & 31) <= kLookBits ? code : 0);
  }
  for (std::uint32_t t = 0; t < kTables; ++t) {
    Table& table = tables[t];
    const std::uint32_t end = min(table.limit[jpeg::kMaxCodeLength] - table.long_begin, kLongCodes);
    for (std::uint32_t i = threadIdx.x; i < kLongCodes; i += kThreads) {
      const Code code =
          i < end ? find(table, dht_of(from, t), t % 2 == 0, table.long_begin + i, kLookBits + 1) : 0;
      table.longs[i] = static_cast<std::uint16_t>(code);
    }
  }
}

/// The block that a thread is decoding, column by column. It goes to memory in pieces of 16 bytes, of which it has few
/// that are not zeros: a store for each coefficient would keep the memory pipes busy with single bytes.
constexpr std::uint32_t kColumnBytes = kThreads * 16;
struct Blocks {
  uint4 columns[8][kThreads];  ///< of thread t: columns[...][t]; zeros where nothing is yet
};

/// Where a coefficient in zigzag order goes, in bytes from the thread's first column.
__device__ inline void build_places(std::uint16_t* places) {
  constexpr jpeg::ZigzagOrder kOrder = jpeg::zigzag_order();
  if (threadIdx.x < jpeg::kBlockCoefficients) {
    const std::uint32_t natural = kOrder.natural[threadIdx.x];
    places[threadIdx.x] = static_cast<std::uint16_t>(natural % 8 * kColumnBytes + natural / 8 * 2);
  }
}

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

/// The next pieces of a thread's stream, in shared memory. They are copied there while earlier ones are used, without
/// registers that would have to be waited for: thread t's are in `pieces[...][t]`.
constexpr std::uint32_t kPieces = 2;
constexpr std::uint32_t kWordsOfPiece = 4;
struct Ring {
  uint4 pieces[kPieces][kThreads];
};

/// Begins to copy 16 bytes, or to clear them where `bytes` is 0.
__device__ inline void begin_copy(uint4* to, const uint4* from, std::uint32_t bytes) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\ncp.async.commit_group;" ::"r"(address), "l"(from),
               "r"(bytes)
               : "memory");
}
/// Until no more than `kNewer` of the thread's copies are under way.
template <int kNewer>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kNewer) : "memory");
}

/// The bits of a stream: the next 32 of them at any time, as zeros behind its end.
class Bits {
 public:
  __device__ Bits(Ring& ring, const std::uint8_t* stream, std::uint32_t bits, std::uint32_t first_bit)
      : ring_(reinterpret_cast<const std::uint32_t*>(&ring.pieces[0][threadIdx.x])),
        stream_(reinterpret_cast<const uint4*>(stream)),
        piece_count_((bits + 127) / 128),
        position_(first_bit) {
    for (std::uint32_t piece = 0; piece < kPieces; ++piece) begin(piece);
    wait_for_copies<kPieces - 1>();
    high_ = word(0);
    low_ = word(1);
  }
  __device__ std::uint32_t peek() const { return __funnelshift_l(low_, high_, position_); }
  /// REQUIRES: count < 32.
  __device__ void consume(std::uint32_t count) {
    position_ += count;
    if (position_ >= 32) {
      position_ -= 32;
      high_ = low_;
      if (next_ % kWordsOfPiece == 0) {
        begin(next_ / kWordsOfPiece + kPieces - 1);
        wait_for_copies<kPieces - 1>();
      }
      low_ = word(next_);
      ++next_;
    }
  }
  /// Goes behind the restart marker of that number, if nothing but the rest of a byte comes before it. T.81 E.2.4.
  __device__ bool take_restart_marker(std::uint32_t number) {
    consume((8 - position_ % 8) % 8);
    if (peek() >> 16 != 0xffd0 + number % 8) return false;
    consume(16);
    return true;
  }
  __device__ std::uint32_t consumed() const { return (next_ - 2) * 32 + position_; }

 private:
  __device__ void begin(std::uint32_t piece) {
    auto* const to = reinterpret_cast<uint4*>(const_cast<std::uint32_t*>(ring_)) + piece % kPieces * kThreads;
    const bool inside = piece < piece_count_;
    begin_copy(to, stream_ + (inside ? piece : 0), inside ? 16 : 0);
  }
  __device__ std::uint32_t word(std::uint32_t number) const {
    const std::uint32_t piece = number / kWordsOfPiece % kPieces;
    return ring_[piece * kThreads * kWordsOfPiece + number % kWordsOfPiece];
  }

  const std::uint32_t* ring_;
  const uint4* stream_;
  std::uint32_t piece_count_;
  std::uint32_t next_ = 2;  ///< word of the stream
  std::uint32_t high_ = 0;
  std::uint32_t low_ = 0;
  std::uint32_t position_;
};

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
  Blocks blocks;
  Table tables[kTables];
  std::uint16_t places[jpeg::kBlockCoefficients];
  BlockPlan plans[jpeg::kMaxBlocksInMcu];
  std::uint32_t order[kThreads];
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
    const Table& table = shared.tables[number];
    Code code = table.look[head >> (32 - kLookBits)];
    const std::uint32_t place = shared.places[pending.k];
    if (code == 0) {
      code = find_long(table, dht_of(task.tables, number), number % 2 == 0, head >> 16);
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
