#include "measure/copy_rates.h"

#if IMGPACK_HAVE_CUDA
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include <cuda_runtime_api.h>
#endif

namespace imgpack::measure {

#if IMGPACK_HAVE_CUDA

namespace {

/// Of one way; 0 if a copy fails.
double rate_of(void* device, const void* host, std::size_t bytes, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto copy = [&] {
    return cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, nullptr) == cudaSuccess &&
           cudaStreamSynchronize(nullptr) == cudaSuccess;
  };
  if (!copy()) return 0;  // and warms up
  const auto begin = Clock::now();
  double taken = 0;
  double copied = 0;
  do {
    if (!copy()) return 0;
    copied += static_cast<double>(bytes);
    taken = std::chrono::duration<double>(Clock::now() - begin).count();
  } while (taken < seconds);
  return copied / taken;
}

CopyRates failed(const char* what, cudaError_t status) {
  (void)cudaGetLastError();
  return {.reason = std::string(what) + ": " + cudaGetErrorString(status)};
}

}  // namespace

CopyRates measure_copies(int device, std::size_t bytes, double seconds) {
  constexpr const char* kNoDevice = "there is no CUDA device to copy to";
  constexpr const char* kNoMemory = "there is no memory for copies of a batch";
  int before = 0;
  if (const cudaError_t status = cudaGetDevice(&before); status != cudaSuccess) return failed(kNoDevice, status);
  if (const cudaError_t status = cudaSetDevice(device); status != cudaSuccess) return failed(kNoDevice, status);
  const std::shared_ptr<void> restore(nullptr, [before](void*) { (void)cudaSetDevice(before); });
  void* memory = nullptr;
  if (const cudaError_t status = cudaMalloc(&memory, bytes); status != cudaSuccess) return failed(kNoMemory, status);
  const std::unique_ptr<void, cudaError_t (*)(void*)> owner(memory, &cudaFree);
  CopyRates rates;
  const std::vector<std::byte> pageable(bytes, std::byte{1});
  rates.pageable = rate_of(memory, pageable.data(), bytes, seconds);
  void* pinned = nullptr;
  if (const cudaError_t status = cudaMallocHost(&pinned, bytes); status != cudaSuccess)
    return failed(kNoMemory, status);
  const std::unique_ptr<void, cudaError_t (*)(void*)> pinned_owner(pinned, &cudaFreeHost);
  std::memset(pinned, 1, bytes);
  rates.pinned = rate_of(memory, pinned, bytes, seconds);
  if (rates.pageable == 0 || rates.pinned == 0) return failed("copies to the CUDA device fail", cudaPeekAtLastError());
  return rates;
}

#else

CopyRates measure_copies(int, std::size_t, double) {
  return {.reason = "this build of imgpack has no CUDA"};
}

#endif

}  // namespace imgpack::measure
