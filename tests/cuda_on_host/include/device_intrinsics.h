// What kernels use of CUDA's language and functions, for the host. Shared memory is static, as one block runs at a
// time; before each block it is spoiled, except under AddressSanitizer, whose guards of it would be lost.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tests/cuda_on_host/host_block.h"

#define __device__
#define __global__
#if defined(__SANITIZE_ADDRESS__)
#define __shared__ static
#else
#define __shared__ static __attribute__((section("device_shared")))
#endif
#define __launch_bounds__(...)

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

namespace imgpack::testing {

inline constexpr unsigned kWholeWarp = 0xffffffff;

/// All values of a warp; each of its threads takes part.
template <class T>
WarpValues warp_values(unsigned mask, T value) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  if (mask != kWholeWarp) std::abort();  // of parts of a warp nothing is made here
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return share_in_warp(threadIdx.x, bits);
}

}  // namespace imgpack::testing

template <class T>
T __shfl_sync(unsigned mask, T value, unsigned lane) {
  T result;
  std::memcpy(&result, &imgpack::testing::warp_values(mask, value)[lane % 32], sizeof result);
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
inline std::uint32_t __ballot_sync(unsigned mask, bool predicate) {
  const imgpack::testing::WarpValues values = imgpack::testing::warp_values(mask, predicate);
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
