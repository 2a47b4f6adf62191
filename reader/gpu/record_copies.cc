#include "reader/gpu/record_copies.h"

#include "reader/gpu/cuda_check.h"

namespace imgpack::gpu {

namespace {

constexpr std::size_t kAlignment = 256;
/// Kernels read whole blocks of 16 bytes.
constexpr std::size_t kMargin = 16;
constexpr int kFirstDriver = 12'080;

}  // namespace

bool has_batched_copies() {
#if CUDART_VERSION >= 13000
  int version = 0;
  check(cudaDriverGetVersion(&version), "asking for the driver's version");
  return version >= kFirstDriver;
#else
  return false;
#endif
}

void RecordCopies::reset() noexcept {
  sources_.clear();
  offsets_.clear();
  sizes_.clear();
  used_ = 0;
}

std::size_t RecordCopies::add(std::span<const std::byte> bytes) {
  // Congruent modulo 16, so that what is copied on unchanged can be copied in large units.
  const std::size_t offset = used_ + kMargin + reinterpret_cast<std::uintptr_t>(bytes.data()) % kMargin;
  used_ = (offset + bytes.size() + kMargin + kAlignment - 1) / kAlignment * kAlignment;
  sources_.push_back(bytes.data());
  sizes_.push_back(bytes.size());
  offsets_.push_back(offset);
  return offset;
}

const std::byte* RecordCopies::memory(cudaStream_t stream) {
  if (used_ > memory_.size()) {
    memory_ = DeviceBuffer();
    memory_ = DeviceBuffer(used_ + used_ / 8);
    // What lies beside the pieces is read and not used.
    check(cudaMemsetAsync(memory_.data(), 0, memory_.size(), stream), "clearing memory");
  }
  return memory_.data();
}

void RecordCopies::queue(cudaStream_t stream) {
  if (sources_.empty()) return;
#if CUDART_VERSION >= 13000
  destinations_.clear();
  for (const std::size_t offset : offsets_) destinations_.push_back(memory_.data() + offset);
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  attributes.flags = cudaMemcpyFlagPreferOverlapWithCompute;
  std::size_t first = 0;
  check(cudaMemcpyBatchAsync(destinations_.data(), sources_.data(), sizes_.data(), sources_.size(), &attributes, &first,
                             1, stream),
        "copying records");
#else
  (void)stream;
#endif
}

}  // namespace imgpack::gpu
