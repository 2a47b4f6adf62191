#include "reader/gpu/program_buffer.h"

#include <algorithm>
#include <utility>

#include "reader/gpu/cuda_check.h"

namespace imgpack::gpu {

namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kLeast = std::size_t{1} << 20;

}  // namespace

ProgramBuffer::Place ProgramBuffer::take(std::size_t bytes) {
  const std::size_t offset = used_;
  const std::size_t end = offset + (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (end > host_.size()) {
    PinnedBuffer larger(std::max({kLeast, end, 2 * host_.size()}));
    if (used_ != 0) std::memcpy(larger.data(), host_.data(), used_);
    host_ = std::move(larger);
  }
  used_ = end;
  return {offset};
}

void ProgramBuffer::settle() {
  if (device_.size() >= used_) return;
  device_ = DeviceBuffer();
  device_ = DeviceBuffer(host_.size());
}

void ProgramBuffer::upload(cudaStream_t stream) const {
  if (used_ == 0) return;
  check(cudaMemcpyAsync(device_.data(), host_.data(), used_, cudaMemcpyHostToDevice, stream), "copying a program");
}

}  // namespace imgpack::gpu
