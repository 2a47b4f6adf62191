// In the place of CUDA's header: copies that spoil what they go to at once, and arrive as late as may be.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime_api.h>

namespace imgpack::testing {

struct PipelineCopy {
  void* to;
  const void* from;
  std::size_t bytes;
};
/// The last group is not committed yet.
using PipelineGroups = std::vector<std::vector<PipelineCopy>>;
/// Of the running thread of the block.
inline PipelineGroups& pipeline_groups() {
  static thread_local std::array<PipelineGroups, kMostThreads> all;
  PipelineGroups& groups = all[threadIdx.x];
  if (groups.empty()) groups.emplace_back();
  return groups;
}

}  // namespace imgpack::testing

/// Misaligned copies end the program, as a device's do.
inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes) {
  const auto places = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  if ((bytes != 4 && bytes != 8 && bytes != 16) || places % bytes != 0) std::abort();
  std::memset(to, 0xa5, bytes);
  imgpack::testing::pipeline_groups().back().push_back({to, from, bytes});
}
inline void __pipeline_commit() {
  imgpack::testing::pipeline_groups().emplace_back();
}
/// Waits for all groups but the last `newer` that were committed.
inline void __pipeline_wait_prior(std::size_t newer) {
  imgpack::testing::PipelineGroups& groups = imgpack::testing::pipeline_groups();
  for (; groups.size() > newer + 1; groups.erase(groups.begin())) {
    for (const imgpack::testing::PipelineCopy& copy : groups.front()) std::memcpy(copy.to, copy.from, copy.bytes);
  }
}
