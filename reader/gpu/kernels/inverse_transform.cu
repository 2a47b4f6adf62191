// Dequantisation and inverse DCT: eight threads a block of 8x8, each transforms a column, hands its values around, and
// transforms a row. A warp takes four blocks that lie side by side, so that it writes whole sectors of 32 bytes.
#include "codec/jpeg/idct.h"
#include "reader/gpu/kernels/jpeg_kernels.h"
#include "reader/gpu/kernels/start.cuh"

namespace imgpack::gpu {

namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kWarps = kThreads / 32;
constexpr std::uint32_t kAllLanes = 0xffffffff;
constexpr std::uint32_t kNoComponent = 0xffffffff;

union Eight {
  uint4 vector;
  std::uint32_t words[4];
};

__device__ inline void unpack(const Eight& from, std::int16_t (&to)[8]) {
#pragma unroll
  for (std::uint32_t i = 0; i < 4; ++i) {
    to[2 * i] = static_cast<std::int16_t>(from.words[i]);
    to[2 * i + 1] = static_cast<std::int16_t>(from.words[i] >> 16);
  }
}

__device__ inline Eight pack(const std::int16_t (&from)[8]) {
  Eight to;
#pragma unroll
  for (std::uint32_t i = 0; i < 4; ++i) {
    to.words[i] =
        __byte_perm(static_cast<std::uint32_t>(from[2 * i]), static_cast<std::uint32_t>(from[2 * i + 1]), 0x5410);
  }
  return to;
}

/// Eight threads have eight values each; afterwards thread i has the i-th of each.
__device__ inline void transpose(Eight& values, std::uint32_t lane) {
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
    values.words[i] =
        upper1 ? __byte_perm(other, values.words[i], 0x7632) : __byte_perm(values.words[i], other, 0x5410);
  }
}

/// What a component's groups have in common, in shared memory: fields of a task in global memory would be read again
/// after every store.
struct ComponentBlocks {
  std::uint32_t groups = 0;
  std::uint32_t groups_wide = 0;
  std::uint32_t blocks_wide = 0;
  std::uint32_t h = 0;
  std::uint32_t v = 0;
  std::uint32_t first_block = 0;  ///< in an MCU
  std::uint32_t mcu_blocks = 0;
  std::uint32_t mcu_columns = 0;
  std::int16_t* coefficients = nullptr;
  const std::uint16_t* quant = nullptr;
  JpegPlane plane;
};

__device__ inline ComponentBlocks blocks_of(const JpegTask& task, std::uint32_t c) {
  const jpeg::Frame& frame = task.index.frame;
  ComponentBlocks blocks;
  blocks.h = frame.components[c].h;
  blocks.v = frame.components[c].v;
  for (std::uint32_t i = 0; i < c; ++i) blocks.first_block += frame.components[i].h * frame.components[i].v;
  blocks.mcu_blocks = frame.blocks_per_mcu();
  blocks.mcu_columns = task.columns();
  blocks.blocks_wide = blocks.mcu_columns * blocks.h;
  blocks.groups_wide = ceil_div(blocks.blocks_wide, 4);
  blocks.groups = task.block_groups(c);
  blocks.coefficients = task.coefficients;
  blocks.quant = task.tables.quant[c];
  blocks.plane = task.planes[c];
  return blocks;
}

/// Groups one after the other, row by row, component by component.
struct Place {
  std::uint32_t component = 0;
  std::uint32_t group_x = 0;
  std::uint32_t block_y = 0;

  __device__ Place(const ComponentBlocks* components, std::uint32_t group) {
    while (group >= components[component].groups) group -= components[component++].groups;
    block_y = group / components[component].groups_wide;
    group_x = group - block_y * components[component].groups_wide;
  }
  /// Of the next group, if there is one.
  __device__ void advance(const ComponentBlocks* components) {
    const ComponentBlocks& here = components[component];
    if (++group_x < here.groups_wide) return;
    group_x = 0;
    if (++block_y * here.groups_wide < here.groups) return;
    block_y = 0;
    ++component;
  }
};

/// x / step and the rest, without a division where the step is a usual one.
__device__ inline uint2 divide(std::uint32_t x, std::uint32_t step) {
  if (step == 1) return {x, 0};
  if (step == 2) return {x >> 1, x & 1};
  return {x / step, x % step};
}

__device__ inline uint2 to_samples(const std::int16_t (&row)[8]) {
  std::uint32_t bytes[8];
#pragma unroll
  for (std::uint32_t i = 0; i < 8; ++i) bytes[i] = jpeg::idct::to_sample(row[i]);
  return {bytes[0] | bytes[1] << 8 | bytes[2] << 16 | bytes[3] << 24,
          bytes[4] | bytes[5] << 8 | bytes[6] << 16 | bytes[7] << 24};
}

/// All threads of a warp; `lane` is that of the eight.
__device__ inline void transform_group(const ComponentBlocks& blocks, const Place& place,
                                       const std::int16_t (&quant)[8], std::uint32_t block_in_group,
                                       std::uint32_t lane) {
  const std::uint32_t block_x = place.group_x * 4 + block_in_group;
  const bool inside = block_x < blocks.blocks_wide;
  const uint2 across = divide(block_x, blocks.h);
  const uint2 down = divide(place.block_y, blocks.v);
  const std::uint32_t mcu = down.x * blocks.mcu_columns + across.x;
  const std::size_t block =
      std::size_t{mcu} * blocks.mcu_blocks + blocks.first_block + down.y * blocks.h + across.y;
  // Past the L1 cache: a store to a line that is still on its way there makes everything behind it wait.
  auto* const at = reinterpret_cast<uint4*>(blocks.coefficients + block * jpeg::kBlockCoefficients) + lane;
  Eight loaded{};
  if (inside) loaded.vector = __ldcg(at);
  std::int16_t column[8];
  unpack(loaded, column);
  bool only_first = true;
#pragma unroll
  for (std::uint32_t y = 0; y < 8; ++y) {
    column[y] = static_cast<std::int16_t>(std::int32_t{column[y]} * quant[y]);  // modulo 2^16
    only_first = only_first && (y == 0 || column[y] == 0);
  }
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
  if (!inside) return;
  __stcg(at, uint4{0, 0, 0, 0});
  std::uint8_t* const to =
      blocks.plane.samples + std::size_t{place.block_y * 8 + lane} * blocks.plane.stride + block_x * 8;
  *reinterpret_cast<uint2*>(to) = to_samples(samples);
}

__global__ void __launch_bounds__(kThreads) transform_blocks(const JpegTask* tasks, const Work* work) {
  __shared__ std::byte storage[jpeg::kMaxComponents * sizeof(ComponentBlocks)];
  auto* const components = reinterpret_cast<ComponentBlocks*>(storage);
  const Work mine = work[blockIdx.x];
  const JpegTask& task = tasks[mine.task];
  const std::uint32_t component_count = task.index.frame.component_count;
  if (threadIdx.x < component_count) components[threadIdx.x] = blocks_of(task, threadIdx.x);
  __syncthreads();
  std::uint32_t groups = 0;
  for (std::uint32_t c = 0; c < component_count; ++c) groups += components[c].groups;

  constexpr std::uint32_t kGroupsOfWarp = kInverseGroups / kWarps;
  const std::uint32_t first = mine.part * kInverseGroups + threadIdx.x / 32 * kGroupsOfWarp;
  if (first >= groups) return;
  const std::uint32_t end = min(first + kGroupsOfWarp, groups);
  const std::uint32_t lane = threadIdx.x % 8;
  Place place(components, first);
  std::int16_t quant[8];
  std::uint32_t quant_of = kNoComponent;
  for (std::uint32_t group = first; group < end; ++group, place.advance(components)) {
    if (place.component != quant_of) {
      quant_of = place.component;
      Eight factors;
      factors.vector = *reinterpret_cast<const uint4*>(components[quant_of].quant + 8 * lane);
      unpack(factors, quant);
    }
    transform_group(components[place.component], place, quant, threadIdx.x / 8 % 4, lane);
  }
}

}  // namespace

void launch_inverse_transform(const JpegTask* tasks, const Work* work, std::uint32_t blocks, cudaStream_t stream) {
  if (blocks == 0) return;
  start("launching transform_blocks", transform_blocks, blocks, kThreads, stream, tasks, work);
}

}  // namespace imgpack::gpu
