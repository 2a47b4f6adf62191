// Takes the stuffed zeros out of the entropy-coded bytes of each segment, so that the decoder need not look for them,
// and finds out which segments are out of the ordinary.
#include "reader/gpu/kernels/jpeg_kernels.h"
#include "reader/gpu/kernels/start.cuh"

namespace imgpack::gpu {

namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kWarps = kThreads / 32;
constexpr std::uint32_t kAllLanes = 0xffffffff;
constexpr std::uint32_t kChunk = 128;  // bytes that a warp looks at, four a lane

/// Where a segment's bytes are, as far as index and header tell.
struct Extent {
  std::uint32_t begin = 0;      ///< byte of the scan
  std::uint32_t end = 0;        ///< behind its last byte
  std::uint32_t first_bit = 0;  ///< in its first byte
  std::uint32_t end_bits = 0;   ///< of its last byte that belong to it; 0: all
  std::uint32_t markers = 0;    ///< for restarts, that it must hold
  bool is_last = false;         ///< of the image: it ends anywhere
  bool unusual = false;
};

__device__ inline Extent extent_of(const JpegTask& task, std::uint32_t segment, const jpeg::SegmentStart& start,
                                   const jpeg::SegmentStart& next_start) {
  const jpeg::SegmentIndex& index = task.index;
  const jpeg::Frame& frame = index.frame;
  Extent extent;
  extent.begin = start.bit / 8;
  extent.first_bit = start.bit % 8;
  extent.is_last = segment + 1 == index.segment_count();
  extent.end = extent.is_last ? frame.scan_size : (next_start.bit + 7) / 8;
  extent.end_bits = extent.is_last ? 0 : next_start.bit % 8;
  extent.unusual = extent.begin < task.scan_begin || extent.end > task.scan_end || extent.end <= extent.begin;
  if (frame.restart_interval == 0) return extent;
  const std::uint32_t row = segment / index.segments_per_row();
  const std::uint32_t column = segment % index.segments_per_row() * index.segment_mcus;
  const std::uint32_t first = row * frame.mcus_per_row() + column;
  const std::uint32_t next = first + min(index.segment_mcus, frame.mcus_per_row() - column);
  extent.markers = (extent.is_last ? next - 1 : next) / frame.restart_interval - first / frame.restart_interval;
  return extent;
}

/// The next four bytes, of which the first `count` mean something; the first is the lowest. Reads the aligned words
/// that hold those.
__device__ inline std::uint32_t load_4(const std::uint8_t* at, std::uint32_t count) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const auto* words = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
  const std::uint32_t shift = address & 3;
  return __funnelshift_r(words[0], shift + count > 4 ? words[1] : 0, shift * 8);
}

struct Unstuffed {
  std::uint32_t bytes = 0;
  std::uint32_t markers = 0;  ///< for restarts
  bool odd = false;           ///< another marker, or an end that tears a stuffed byte
};

struct Scan {
  const std::uint8_t* bytes;
  std::uint32_t begin;
  std::uint32_t end;
  bool has_restarts;
};

/// One warp. `out` gets bytes in words of four, the first the highest. Restart markers stay where they are: decoders
/// know where to expect them.
__device__ inline Unstuffed unstuff(const Scan& scan, const Extent& extent, std::uint8_t* out, std::uint32_t lane) {
  Unstuffed result;
  std::uint32_t before = 0;  // the byte in front of the chunk
  for (std::uint32_t at = extent.begin; at < extent.end; at += kChunk) {
    const std::uint32_t mine = at + 4 * lane;
    const std::uint32_t word = mine < extent.end ? load_4(scan.bytes + mine, min(extent.end - mine, 4U)) : 0;
    std::uint32_t previous = __shfl_up_sync(kAllLanes, word >> 24, 1);
    if (lane == 0) previous = before;
    std::uint32_t kept = 0;  // a bit for each of the four bytes
    bool odd = false;
#pragma unroll
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t byte = (word >> (8 * i)) & 0xff;
      const bool inside = mine + i < extent.end;
      const bool behind_ff = previous == 0xff;
      const bool restarts = scan.has_restarts && inside && behind_ff && (byte & 0xf8) == 0xd0;
      if (scan.has_restarts) result.markers += __popc(__ballot_sync(kAllLanes, restarts));
      odd = odd || (inside && behind_ff && byte != 0 && !restarts);
      if (inside && !(behind_ff && byte == 0)) kept |= 1u << i;
      previous = byte;
    }
    const std::uint32_t mine_kept = __popc(kept);
    std::uint32_t sum = mine_kept;
#pragma unroll
    for (std::uint32_t step = 1; step < 32; step *= 2) {
      const std::uint32_t below = __shfl_up_sync(kAllLanes, sum, step);
      if (lane >= step) sum += below;
    }
    std::uint32_t to = result.bytes + sum - mine_kept;
#pragma unroll
    for (std::uint32_t i = 0; i < 4; ++i) {
      if ((kept >> i & 1) != 0) out[to++ ^ 3] = static_cast<std::uint8_t>(word >> (8 * i));
    }
    result.odd = result.odd || __any_sync(kAllLanes, odd);
    result.bytes += __shfl_sync(kAllLanes, sum, 31);
    before = __shfl_sync(kAllLanes, word >> 24, 31);
  }
  // Decoders read whole pieces of 16 bytes.
  if (lane < (16 - result.bytes % 16) % 16) out[(result.bytes + lane) ^ 3] = 0;
  // What follows a last byte of 0xff decides whether that is data; an entry that names a stuffed zero names no place.
  const std::uint8_t last = scan.bytes[extent.end - 1];
  const bool tears_zero =
      last == 0 && extent.end_bits != 0 && extent.end > extent.begin + 1 && scan.bytes[extent.end - 2] == 0xff;
  const bool has_more = extent.end < scan.end;
  const bool bare_ff = last == 0xff && !(has_more && scan.bytes[extent.end] == 0);
  const bool names_zero = extent.end_bits == 0 && !extent.is_last && last == 0xff;
  result.odd = result.odd || result.markers != extent.markers || tears_zero || bare_ff || names_zero;
  return result;
}

/// What is known before the bytes are.
__device__ inline void describe(const Extent& extent, const jpeg::SegmentStart& start,
                                const jpeg::SegmentStart& next_start, SegmentInfo& info) {
  info.first_bit = extent.first_bit;
  for (std::uint32_t c = 0; c < jpeg::kMaxComponents; ++c) {
    info.dc[c] = start.dc[c];
    info.end_dc[c] = next_start.dc[c];
  }
  info.checks_end = !extent.is_last;
  info.unusual = extent.unusual;
}

__device__ inline void complete(const Extent& extent, const Unstuffed& bytes, SegmentInfo& info) {
  const std::uint32_t bits = bytes.bytes * 8;
  info.bits = bits;
  info.end = extent.end_bits == 0 ? bits : bits - 8 + extent.end_bits;
  info.unusual = bytes.odd;
}

/// Segment `i` and the one behind it in the image, whether the part needs that or not.
__device__ inline void find_extent(const JpegTask& task, std::uint32_t i, jpeg::SegmentStart& start,
                                   jpeg::SegmentStart& next_start, Extent& extent) {
  const std::uint32_t segment = task.segment(i);
  start = task.index.start(segment);
  next_start = segment + 1 == task.index.segment_count() ? start : task.index.start(segment + 1);
  extent = extent_of(task, segment, start, next_start);
}

/// Whether this thread's share of the part's segments come one after the other, as the index tells. If all do, no two
/// of them have the same place in the streams.
__device__ inline bool are_ordered(const JpegTask& task) {
  bool ordered = true;
  for (std::uint32_t i = threadIdx.x; i + 1 < task.segments(); i += kThreads) {
    jpeg::SegmentStart start;
    jpeg::SegmentStart next_start;
    Extent extent;
    find_extent(task, i, start, next_start, extent);
    const std::uint32_t behind = task.index.start(task.segment(i + 1)).bit / 8;
    ordered = ordered && behind >= extent.begin && behind + 1 >= extent.end;
  }
  return ordered;
}

__global__ void __launch_bounds__(kThreads) unstuff_segments(const JpegTask* tasks, const Work* work) {
  alignas(Extent) __shared__ std::byte storage[kUnstuffSegments * sizeof(Extent)];
  auto* const extents = reinterpret_cast<Extent*>(storage);
  const Work mine = work[blockIdx.x];
  const JpegTask& task = tasks[mine.task];
  const std::uint32_t first = mine.part * kUnstuffSegments;
  const std::uint32_t count = min(task.segments() - first, kUnstuffSegments);
  const bool ordered = __syncthreads_and(are_ordered(task) ? 1 : 0) != 0;
  if (threadIdx.x < count) {
    Extent extent;
    jpeg::SegmentStart start;
    jpeg::SegmentStart next_start;
    find_extent(task, first + threadIdx.x, start, next_start, extent);
    extent.unusual = extent.unusual || !ordered;
    extents[threadIdx.x] = extent;
    SegmentInfo info;
    // Each stream has room for its bytes, a rounding at both ends, and 16 bytes to read ahead.
    info.stream = (extent.begin - task.scan_begin) / 16 + 2 * (first + threadIdx.x);
    describe(extent, start, next_start, info);
    task.infos[first + threadIdx.x] = info;
  }
  __syncthreads();
  // Fields of the task would be read again after every store.
  const Scan scan{task.scan, task.scan_begin, task.scan_end, task.index.frame.restart_interval != 0};
  std::uint8_t* const streams = task.streams;
  SegmentInfo* const infos = task.infos + first;
  for (std::uint32_t s = threadIdx.x / 32; s < count; s += kWarps) {
    const Extent extent = extents[s];
    if (extent.unusual) continue;
    const std::uint32_t stream = (extent.begin - scan.begin) / 16 + 2 * (first + s);
    const Unstuffed bytes = unstuff(scan, extent, streams + std::size_t{stream} * 16, threadIdx.x % 32);
    if (threadIdx.x % 32 == 0) complete(extent, bytes, infos[s]);
  }
}

}  // namespace

void launch_unstuff(const JpegTask* tasks, const Work* work, std::uint32_t blocks, cudaStream_t stream) {
  if (blocks == 0) return;
  start("launching unstuff_segments", unstuff_segments, blocks, kThreads, stream, tasks, work);
}

}  // namespace imgpack::gpu
