// Filter windows and weights, in the same double precision as on the host: compiled without contraction.
#include "reader/gpu/kernels/resample_kernels.h"
#include "reader/gpu/kernels/start.cuh"

namespace imgpack::gpu {

namespace {

constexpr std::uint32_t kThreads = 128;

template <class Filter>
__device__ inline void compute_filtered(const AxisTable& table, Filter filter) {
  const AxisRequest& request = table.request;
  const axis_math::Placement placement(request, Filter::kSupport);
  auto* const weights = reinterpret_cast<std::int32_t*>(table.numbers + 2 * request.kept);
  for (std::uint32_t i = threadIdx.x; i < request.kept; i += kThreads) {
    const axis_math::Window window = placement.window(request, i);
    table.numbers[i] = window.first;
    table.numbers[request.kept + i] = window.count;
    std::int32_t* const out = weights + std::size_t{i} * table.stride;
    axis_math::weigh(request, placement, i, window, filter,
                     [out](std::uint32_t t, std::int32_t weight) { out[t] = weight; });
  }
}

__device__ inline void put_copy(const AxisTable& table, std::uint32_t i, const axis_math::Window& window) {
  const std::uint32_t kept = table.request.kept;
  table.numbers[i] = window.first;
  table.numbers[kept + i] = window.count;
  table.numbers[2 * kept + std::size_t{i} * table.stride] = static_cast<std::uint32_t>(kWeightOne);
}

__device__ inline void compute(const AxisTable& table) {
  const AxisRequest& request = table.request;
  if (request.interpolation == Interpolation::nearest) {
    if (threadIdx.x != 0) return;
    axis_math::for_each_nearest(request,
                                [&](std::uint32_t i, axis_math::Window window) { put_copy(table, i, window); });
  } else if (request.keeps_pixels()) {
    const std::uint32_t begin = static_cast<std::uint32_t>(request.begin) + request.skipped;
    for (std::uint32_t i = threadIdx.x; i < request.kept; i += kThreads) put_copy(table, i, {begin + i, 1});
  } else if (request.interpolation == Interpolation::box) {
    compute_filtered(table, axis_math::BoxFilter());
  } else if (request.interpolation == Interpolation::bicubic) {
    compute_filtered(table, axis_math::BicubicFilter());
  } else {
    compute_filtered(table, axis_math::BilinearFilter());
  }
}

__global__ void __launch_bounds__(kThreads) compute_axes(const StageTask* stages) {
  const StageTask& stage = stages[blockIdx.x / 2];
  const AxisTable& table = blockIdx.x % 2 == 0 ? stage.columns : stage.rows;
  if (!table.given) compute(table);
}

}  // namespace

void launch_axes(const StageTask* stages, std::uint32_t count, cudaStream_t stream) {
  if (count == 0) return;
  start("launching compute_axes", compute_axes, 2 * count, kThreads, stream, stages);
}

}  // namespace imgpack::gpu
