#include "reader/gpu/kernels/small_copies.h"

#include <algorithm>

#include "reader/gpu/kernels/start.cuh"
#include "reader/gpu/program/work.h"

namespace imgpack::gpu {

namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kMostBlocks = 24;  // as many as keep the bus busy

struct Copies {
  SmallCopy all[kMostSmallCopies];
};

/// Blocks of one `y` share a copy.
__global__ void __launch_bounds__(kThreads) copy_kernel(Copies copies) {
  const SmallCopy& copy = copies.all[blockIdx.y];
  const std::size_t units = copy.bytes / sizeof(uint4);
  const std::size_t first = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::size_t step = std::size_t{gridDim.x} * kThreads;
  const auto* const from = static_cast<const uint4*>(copy.source);
  auto* const to = static_cast<uint4*>(copy.destination);
  for (std::size_t i = first; i < units; i += step) to[i] = from[i];
  const std::size_t rest = units * sizeof(uint4) + first;
  if (rest < copy.bytes) {
    static_cast<unsigned char*>(copy.destination)[rest] = static_cast<const unsigned char*>(copy.source)[rest];
  }
}

}  // namespace

void launch_small_copies(std::span<const SmallCopy> copies, cudaStream_t stream) {
  Copies all{};
  std::size_t most = 0;
  unsigned count = 0;
  for (const SmallCopy& copy : copies) {
    if (copy.bytes == 0) continue;
    all.all[count++] = copy;
    most = std::max(most, copy.bytes);
  }
  if (count == 0) return;
  const std::size_t blocks = std::min(ceil_div(most, kThreads * sizeof(uint4)), kMostBlocks);
  start("copying small pieces", copy_kernel, dim3(static_cast<unsigned>(blocks), count), kThreads, stream, all);
}

}  // namespace imgpack::gpu
