// In the place of CUDA's header: what is used of CUDA, for the host. One block runs at a time, and shared memory is
// static. Streams: host_streams.h. There are two devices, whose memory is that of the host, so that
// sanitizers see what kernels do to it.
#pragma once

#include <malloc.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "tests/cuda_on_host/host_block.h"
#include "tests/cuda_on_host/host_streams.h"

#define __device__
#define __global__
#define __shared__ static
#define __launch_bounds__(...)

#define CUDART_VERSION 13000

struct alignas(16) uint4 {
  std::uint32_t x, y, z, w;
};

struct alignas(8) uint2 {
  std::uint32_t x, y;
};

struct dim3 {
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}  // NOLINT: as CUDA's
  unsigned x, y, z;
};

inline thread_local dim3 threadIdx{0, 0, 0};
inline thread_local dim3 blockIdx{0, 0, 0};
inline thread_local dim3 gridDim;

inline void __syncthreads() {
  imgpack::testing::wait_for_block();
}

inline int __syncthreads_and(int predicate) {
  return imgpack::testing::all_true_in_block(predicate != 0) ? 1 : 0;
}

/// All values of a warp; each of its threads takes part.
template <class T>
imgpack::testing::WarpValues warp_values(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return imgpack::testing::share_in_warp(threadIdx.x, bits);
}
template <class T>
T __shfl_sync(unsigned, T value, unsigned lane) {
  T result;
  std::memcpy(&result, &warp_values(value)[lane], sizeof result);
  return result;
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta) {
  const unsigned lane = threadIdx.x % 32;
  return __shfl_sync(mask, value, lane >= delta ? lane - delta : lane);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta) {
  const unsigned lane = threadIdx.x % 32;
  return __shfl_sync(mask, value, lane + delta < 32 ? lane + delta : lane);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, unsigned lanes) {
  return __shfl_sync(mask, value, threadIdx.x % 32 ^ lanes);
}
inline std::uint32_t __ballot_sync(unsigned, bool predicate) {
  const imgpack::testing::WarpValues values = warp_values(predicate);
  std::uint32_t votes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) votes |= static_cast<std::uint32_t>(values[lane] != 0) << lane;
  return votes;
}
inline bool __any_sync(unsigned mask, bool predicate) {
  return __ballot_sync(mask, predicate) != 0;
}

inline uint4 __ldcs(const uint4* from) {
  return *from;
}
inline uint4 __ldcg(const uint4* from) {
  return *from;
}
inline void __stcg(uint4* to, uint4 value) {
  *to = value;
}
/// Four of the eight bytes of `y` and `x`, as the selector's four digits say; none of them is above 7 here.
inline std::uint32_t __byte_perm(std::uint32_t x, std::uint32_t y, std::uint32_t selector) {
  const std::uint64_t bytes = std::uint64_t{y} << 32 | x;
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    result |= static_cast<std::uint32_t>(bytes >> (selector >> (4 * i) & 7) * 8 & 0xff) << (8 * i);
  }
  return result;
}

inline std::uint32_t __float_as_uint(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
inline std::uint32_t __float2uint_rn(float value) {
  return static_cast<std::uint32_t>(std::nearbyint(value));
}
inline int __popc(std::uint32_t x) {
  return std::popcount(x);
}
inline int __ffs(int x) {
  return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1;
}
inline std::uint32_t __funnelshift_l(std::uint32_t low, std::uint32_t high, std::uint32_t shift) {
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) << (shift % 32) >> 32);
}
inline std::uint32_t __funnelshift_r(std::uint32_t low, std::uint32_t high, std::uint32_t shift) {
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> (shift % 32));
}
template <class T>
T min(T a, T b) {
  return a < b ? a : b;
}
template <class T>
T max(T a, T b) {
  return a < b ? b : a;
}
inline std::uint32_t atomicAdd(std::uint32_t* address, std::uint32_t value) {
  return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
inline std::uint32_t atomicMin(std::uint32_t* address, std::uint32_t value) {
  std::uint32_t seen = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (value < seen &&
         !__atomic_compare_exchange_n(address, &seen, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return seen;
}

using cudaError_t = int;
inline constexpr cudaError_t cudaSuccess = 0;
inline constexpr cudaError_t cudaErrorInvalidValue = 1;
inline constexpr cudaError_t cudaErrorMemoryAllocation = 2;
inline constexpr cudaError_t cudaErrorNotReady = 600;
inline constexpr cudaError_t cudaErrorPeerAccessAlreadyEnabled = 704;
inline constexpr cudaError_t cudaErrorHostMemoryAlreadyRegistered = 712;
inline const char* cudaGetErrorString(cudaError_t status) {
  return status == cudaErrorMemoryAllocation ? "out of memory" : "an error";
}
inline const char* cudaGetErrorName(cudaError_t status) {
  return status == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "cudaErrorInvalidValue";
}
inline cudaError_t cudaGetLastError() {
  return cudaSuccess;
}

inline constexpr int kHostDevices = 2;
inline thread_local int current_device = 0;
struct cudaDeviceProp {
  char name[256];
};
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount,
  cudaDevAttrCanMapHostMemory,
  cudaDevAttrHostRegisterSupported,
  cudaDevAttrHostRegisterReadOnlySupported
};
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = kHostDevices;
  return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= kHostDevices) return cudaErrorInvalidValue;
  current_device = device;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::strcpy(properties->name, "threads of the host");
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 1;
  return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() {
  imgpack::testing::finish_all_streams();
  return cudaSuccess;
}
inline cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 1;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return cudaSuccess;
}
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed };
inline cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) {
  return cudaSuccess;
}

using cudaStream_t = imgpack::testing::HostStream*;
inline constexpr unsigned cudaStreamNonBlocking = 1;
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = imgpack::testing::make_stream();
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  imgpack::testing::destroy_stream(stream);
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  imgpack::testing::finish(stream);
  return cudaSuccess;
}
inline cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void*), void* argument) {
  imgpack::testing::queue(stream, [=] { function(argument); });
  return cudaSuccess;
}

using cudaEvent_t = imgpack::testing::HostEvent*;
inline constexpr unsigned cudaEventBlockingSync = 1;
inline constexpr unsigned cudaEventDisableTiming = 2;
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = imgpack::testing::make_event();
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  imgpack::testing::destroy_event(event);
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  imgpack::testing::record(*event, stream);
  return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  imgpack::testing::finish(*event);
  return cudaSuccess;
}
inline cudaError_t cudaEventQuery(cudaEvent_t event) {
  return imgpack::testing::is_over(*event) ? cudaSuccess : cudaErrorNotReady;
}
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  *milliseconds = imgpack::testing::milliseconds_between(*begin, *end);
  return cudaSuccess;
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  imgpack::testing::let_wait(stream, *event);
  return cudaSuccess;
}

inline constexpr std::size_t kHostDeviceBytes = std::size_t{64} << 30;
inline std::atomic<std::size_t> device_bytes_in_use = 0;
/// With something in it: new memory is not zeros.
inline cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  constexpr std::size_t kAlignment = 256;
  if (bytes > kHostDeviceBytes) return cudaErrorMemoryAllocation;
  *memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  std::memset(*memory, 0xcd, bytes);
  device_bytes_in_use += malloc_usable_size(*memory);
  return cudaSuccess;
}
/// Waits for all work, as CUDA's does.
inline cudaError_t cudaFree(void* memory) {
  imgpack::testing::finish_all_streams();
  device_bytes_in_use -= malloc_usable_size(memory);
  std::free(memory);
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = kHostDeviceBytes - device_bytes_in_use;
  *total = kHostDeviceBytes;
  return cudaSuccess;
}
inline constexpr unsigned cudaHostAllocPortable = 1;
inline constexpr unsigned cudaHostAllocMapped = 2;
inline cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return cudaMalloc(memory, bytes);
}
inline cudaError_t cudaFreeHost(void* memory) {
  return cudaFree(memory);
}
inline constexpr unsigned cudaHostRegisterPortable = 1;
inline constexpr unsigned cudaHostRegisterMapped = 2;
inline constexpr unsigned cudaHostRegisterReadOnly = 8;
/// By their first byte: of how many bytes they are.
inline std::map<std::uintptr_t, std::size_t> registered_ranges;
inline std::mutex registering;
/// The registered range that holds the byte. REQUIRES: `registering` is held.
inline std::map<std::uintptr_t, std::size_t>::iterator registered_range(const void* memory) {
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  auto range = registered_ranges.upper_bound(at);
  if (range == registered_ranges.begin()) return registered_ranges.end();
  --range;
  return at - range->first < range->second ? range : registered_ranges.end();
}
inline cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned) {
  const std::lock_guard lock(registering);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const auto next = registered_ranges.lower_bound(begin);
  const bool overlaps_next = next != registered_ranges.end() && next->first - begin < bytes;
  if (overlaps_next || registered_range(memory) != registered_ranges.end()) {
    return cudaErrorHostMemoryAlreadyRegistered;
  }
  registered_ranges.emplace(begin, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaHostUnregister(void* memory) {
  imgpack::testing::finish_all_streams();
  const std::lock_guard lock(registering);
  return registered_ranges.erase(reinterpret_cast<std::uintptr_t>(memory)) == 1 ? cudaSuccess : cudaErrorInvalidValue;
}
inline cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  const std::lock_guard lock(registering);
  if (registered_range(host) == registered_ranges.end()) return cudaErrorInvalidValue;
  *device = host;
  return cudaSuccess;
}
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost };
struct cudaPointerAttributes {
  cudaMemoryType type;
};
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* memory) {
  const std::lock_guard lock(registering);
  attributes->type =
      registered_range(memory) == registered_ranges.end() ? cudaMemoryTypeUnregistered : cudaMemoryTypeHost;
  return cudaSuccess;
}

enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  if (bytes != 0) std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  if (bytes != 0) std::memset(memory, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  imgpack::testing::queue(stream, [=] { cudaMemcpy(to, from, bytes, kind); });
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
inline cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  imgpack::testing::queue(stream, [=] { cudaMemset(memory, value, bytes); });
  return cudaSuccess;
}
enum cudaMemcpySrcAccessOrder { cudaMemcpySrcAccessOrderStream };
inline constexpr unsigned cudaMemcpyFlagPreferOverlapWithCompute = 1;
struct cudaMemcpyAttributes {
  cudaMemcpySrcAccessOrder srcAccessOrder;
  unsigned flags;
};
template <class To, class From>
cudaError_t cudaMemcpyBatchAsync(To* to, From* from, const std::size_t* bytes, std::size_t count, cudaMemcpyAttributes*,
                                 std::size_t*, std::size_t, cudaStream_t stream) {
  for (std::size_t i = 0; i < count; ++i) {
    cudaMemcpyAsync(to[i], from[i], bytes[i], cudaMemcpyDeviceToDevice, stream);
  }
  return cudaSuccess;
}
