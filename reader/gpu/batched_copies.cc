#include "reader/gpu/batched_copies.h"

#include "imgpack/error.h"
#include "reader/gpu/cuda_check.h"

namespace imgpack::gpu {

bool has_batched_copies() {
#if CUDART_VERSION >= 13000
  constexpr int kFirstDriver = 12'080;
  int version = 0;
  check(cudaDriverGetVersion(&version), "asking for the driver's version");
  return version >= kFirstDriver;
#else
  return false;
#endif
}

void BatchedCopies::clear() noexcept {
  sources_.clear();
  destinations_.clear();
  sizes_.clear();
}

void BatchedCopies::add(const std::byte* source, std::byte* destination, std::size_t bytes) {
  sources_.push_back(source);
  destinations_.push_back(destination);
  sizes_.push_back(bytes);
}

void BatchedCopies::queue(cudaStream_t stream) {
  if (empty()) return;
#if CUDART_VERSION >= 13000
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  attributes.flags = cudaMemcpyFlagPreferOverlapWithCompute;
  std::size_t first = 0;  // the attributes are those of all copies
  check(cudaMemcpyBatchAsync(destinations_.data(), sources_.data(), sizes_.data(), sources_.size(), &attributes, &first,
                             1, stream),
        "copying records");
#else
  (void)stream;
  throw Error(ErrorCode::unsupported, "copies in one call need CUDA 13");
#endif
}

}  // namespace imgpack::gpu
