#include "reader/gpu/program_buffer.h"

#include <algorithm>
#include <utility>

#include "reader/gpu/kernels/small_copies.h"

namespace imgpack::gpu {

namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kLeast = std::size_t{1} << 20;

}  // namespace

ProgramBuffer::ProgramBuffer() : ProgramBuffer(&allocate_pinned) {}

ProgramBuffer::Place ProgramBuffer::take(std::size_t bytes) {
  const std::size_t offset = used_;
  const std::size_t end = offset + (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (end > host_bytes_) {
    const std::size_t size = std::max({kLeast, end, 2 * host_bytes_});
    std::shared_ptr<std::byte> larger = allocate_host_(size);
    if (used_ != 0) std::memcpy(larger.get(), host_.get(), used_);
    host_ = std::move(larger);
    host_bytes_ = size;
  }
  used_ = end;
  return {offset};
}

void ProgramBuffer::settle() {
  if (device_.size() >= used_) return;
  device_ = DeviceBuffer();
  device_ = DeviceBuffer(host_bytes_);
}

void ProgramBuffer::upload(cudaStream_t stream) const {
  const SmallCopy copy{.source = host_.get(), .destination = device_.data(), .bytes = used_};
  launch_small_copies(std::span(&copy, 1), stream);
}

}  // namespace imgpack::gpu
