// In the place of CUDA's header: copies that spoil what they go to at once, and arrive as late as may be.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <deque>
#include <vector>

#include <cuda_runtime_api.h>

struct PipelineCopy {
  void* to;
  const void* from;
  std::size_t bytes;
};
/// Of the running thread of the block, by group: the last one is not committed yet.
inline std::deque<std::vector<PipelineCopy>>& pipeline_groups() {
  static thread_local std::array<std::deque<std::vector<PipelineCopy>>, imgpack::testing::kMostThreads> all;
  std::deque<std::vector<PipelineCopy>>& groups = all[threadIdx.x];
  if (groups.empty()) groups.emplace_back();
  return groups;
}

inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes) {
  std::memset(to, 0xa5, bytes);
  pipeline_groups().back().push_back({to, from, bytes});
}
inline void __pipeline_commit() {
  pipeline_groups().emplace_back();
}
/// Waits for all groups but the last `newer` that were committed.
inline void __pipeline_wait_prior(std::size_t newer) {
  for (auto& groups = pipeline_groups(); groups.size() > newer + 1; groups.pop_front()) {
    for (const PipelineCopy& copy : groups.front()) std::memcpy(copy.to, copy.from, copy.bytes);
  }
}
