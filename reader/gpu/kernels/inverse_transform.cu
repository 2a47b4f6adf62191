// Dequantisation and inverse DCT: eight threads a block of 8x8, each transforms a column, hands its values around, and
// transforms a row. A warp takes four blocks that lie side by side, so that it writes whole sectors of 32 bytes.
#include "codec/jpeg/idct.h"
#include "reader/gpu/cuda_check.h"
#include "reader/gpu/kernels/jpeg_kernels.h"

namespace imgpack::gpu {

namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kWarps = kThreads / 32;
constexpr std::uint32_t kAllLanes = 0xffffffff;

union Eight {
  uint4 vector;
  std::uint32_t words[4];
};

__device__ void unpack(const Eight& from, std::int16_t (&to)[8]) {
#pragma unroll
  for (std::uint32_t i = 0; i < 4; ++i) {
    to[2 * i] = static_cast<std::int16_t>(from.words[i]);
    to[2 * i + 1] = static_cast<std::int16_t>(from.words[i] >> 16);
  }
}

__device__ Eight pack(const std::int16_t (&from)[8]) {
  Eight to;
#pragma unroll
  for (std::uint32_t i = 0; i < 4; ++i) {
    to.words[i] = __byte_perm(static_cast<std::uint32_t>(from[2 * i]), static_cast<std::uint32_t>(from[2 * i + 1]), 0x5410);
  }
  return to;
}

/// Eight threads have eight values each; afterwards thread i has the i-th of each.
__device__ void transpose(Eight& values, std::uint32_t lane) {
  const bool upper4 = (lane & 4) != 0;
#pragma unroll
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::uint32_t other = __shfl_xor_sync(kAllLanes, upper4 ? values.words[i] : values.words[i + 2], 4);
    (upper4 ? values.words[i] : values.words[i + 2]) = other;
  }
  const bool upper2 = (lane & 2) != 0;
#pragma unroll
  for (std::uint32_t i = 0; i < 4; i += 2) {
    const std::uint32_t other = __shfl_xor_sync(kAllLanes, upper2 ? values.words[i] : values.words[i + 1], 2);
    (upper2 ? values.words[i] : values.words[i + 1]) = other;
  }
  const bool upper1 = (lane & 1) != 0;
#pragma unroll
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t other = __shfl_xor_sync(kAllLanes, values.words[i], 1);
    values.words[i] = upper1 ? __byte_perm(other, values.words[i], 0x7632) : __byte_perm(values.words[i], other, 0x5410);
  }
}

/// A group of four blocks, and which of its samples a thread has to do with.
struct Place {
  std::uint32_t component = 0;
  std::uint32_t block_x = 0;  ///< of the part's component, in blocks
  std::uint32_t block_y = 0;
  bool inside = false;
  std::size_t block = 0;  ///< in the order of the scan
};

__device__ Place place_of(const JpegTask& task, std::uint32_t group, std::uint32_t block_in_group) {
  const jpeg::Frame& frame = task.index.frame;
  Place place;
  std::uint32_t first_block = 0;
  while (place.component + 1 < frame.component_count && group >= task.block_groups(place.component)) {
    group -= task.block_groups(place.component);
    first_block += frame.components[place.component].h * frame.components[place.component].v;
    ++place.component;
  }
  const std::uint32_t h = frame.components[place.component].h;
  const std::uint32_t v = frame.components[place.component].v;
  const std::uint32_t blocks_wide = task.columns() * h;
  const std::uint32_t groups_wide = (blocks_wide + 3) / 4;
  place.block_x = group % groups_wide * 4 + block_in_group;
  place.block_y = group / groups_wide;
  place.inside = place.block_x < blocks_wide;
  const std::size_t mcu = std::size_t{place.block_y / v} * task.columns() + place.block_x / h;
  place.block = mcu * frame.blocks_per_mcu() + first_block + place.block_y % v * h + place.block_x % h;
  return place;
}

__device__ void dequantize(const std::uint16_t* quant, std::int16_t (&values)[8]) {
  Eight factors;
  factors.vector = *reinterpret_cast<const uint4*>(quant);
  std::int16_t by[8];
  unpack(factors, by);
#pragma unroll
  for (std::uint32_t i = 0; i < 8; ++i) {
    values[i] = static_cast<std::int16_t>(static_cast<std::uint32_t>(values[i]) *
                                          static_cast<std::uint32_t>(static_cast<std::uint16_t>(by[i])));
  }
}

__device__ uint2 to_samples(const std::int16_t (&row)[8]) {
  std::uint32_t bytes[8];
#pragma unroll
  for (std::uint32_t i = 0; i < 8; ++i) bytes[i] = jpeg::idct::to_sample(row[i]);
  return {bytes[0] | bytes[1] << 8 | bytes[2] << 16 | bytes[3] << 24,
          bytes[4] | bytes[5] << 8 | bytes[6] << 16 | bytes[7] << 24};
}

/// All threads of a warp; `lane` is that of the eight.
__device__ void transform_group(const JpegTask& task, std::uint32_t group, std::uint32_t block_in_group,
                                std::uint32_t lane) {
  const Place place = place_of(task, group, block_in_group);
  Eight loaded{};
  if (place.inside) {
    auto* const at = reinterpret_cast<uint4*>(task.coefficients + place.block * jpeg::kBlockCoefficients) + lane;
    loaded.vector = *at;
    *at = {0, 0, 0, 0};
  }
  std::int16_t column[8];
  unpack(loaded, column);
  dequantize(task.tables.quant[place.component] + 8 * lane, column);
  bool only_first = true;
#pragma unroll
  for (std::uint32_t y = 1; y < 8; ++y) only_first = only_first && column[y] == 0;
  // As libjpeg-turbo: a block whose coefficients are all in the first row takes another way, which overflows otherwise.
  const std::uint32_t votes = __ballot_sync(kAllLanes, only_first);
  const bool only_first_row = (votes >> (block_in_group * 8) & 0xff) == 0xff;
  std::int16_t work[8];
  jpeg::idct::transform<jpeg::idct::kPass1Shift>(column, work);
  const std::int16_t flat = jpeg::idct::wrap(column[0] * (1 << jpeg::idct::kPass1Bits));
#pragma unroll
  for (std::uint32_t y = 0; y < 8; ++y) work[y] = only_first_row ? flat : work[y];
  Eight handed = pack(work);
  transpose(handed, lane);
  std::int16_t row[8];
  std::int16_t samples[8];
  unpack(handed, row);
  jpeg::idct::transform<jpeg::idct::kPass2Shift>(row, samples);
  if (!place.inside) return;
  const JpegPlane& plane = task.planes[place.component];
  std::uint8_t* const to = plane.samples + std::size_t{place.block_y * 8 + lane} * plane.stride + place.block_x * 8;
  *reinterpret_cast<uint2*>(to) = to_samples(samples);
}

__global__ void __launch_bounds__(kThreads) transform_blocks(const JpegTask* tasks, const Work* work) {
  const Work mine = work[blockIdx.x];
  const JpegTask& task = tasks[mine.task];
  std::uint32_t groups = 0;
  for (std::uint32_t c = 0; c < task.index.frame.component_count; ++c) groups += task.block_groups(c);
  const std::uint32_t first = mine.part * kInverseGroups;
  const std::uint32_t end = min(first + kInverseGroups, groups);
  for (std::uint32_t group = first + threadIdx.x / 32; group < end; group += kWarps) {
    transform_group(task, group, threadIdx.x / 8 % 4, threadIdx.x % 8);
  }
}

}  // namespace

void launch_inverse_transform(const JpegTask* tasks, const Work* work, std::uint32_t blocks, cudaStream_t stream) {
  if (blocks == 0) return;
  transform_blocks<<<blocks, kThreads, 0, stream>>>(tasks, work);
  check(cudaGetLastError(), "launching transform_blocks");
}

}  // namespace imgpack::gpu
