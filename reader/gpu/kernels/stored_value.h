// How kernels read and write values of each dtype. Device code only.
#pragma once

#include <cstdint>

#include <cuda_fp16.h>

#include "imgpack/batch.h"
#include "reader/augment/half.h"

namespace imgpack::gpu {

/// load() and store() convert from and to float32, to nearest, halves to even, as half.h does (which NaN a NaN becomes
/// may differ).
template <DType kType>
struct StoredValue;

template <>
struct StoredValue<DType::u8> {
  using Type = std::uint8_t;
  static __device__ float load(Type value) { return static_cast<float>(value); }
  static __device__ Type store(float value) { return static_cast<Type>(__float2uint_rn(value)); }
};

template <>
struct StoredValue<DType::f32> {
  using Type = float;
  static __device__ float load(Type value) { return value; }
  static __device__ Type store(float value) { return value; }
};

template <>
struct StoredValue<DType::f16> {
  using Type = std::uint16_t;
  static __device__ float load(Type bits) { return __half2float(__ushort_as_half(bits)); }
  static __device__ Type store(float value) { return __half_as_ushort(__float2half_rn(value)); }
};

template <>
struct StoredValue<DType::bf16> {
  using Type = std::uint16_t;
  static __device__ float load(Type bits) { return from_bfloat16(bits); }
  static __device__ Type store(float value) { return to_bfloat16(value); }
};

/// Several values that are read and written at once.
template <class Type, int kCount>
struct alignas(sizeof(Type) * kCount) Chunk {
  Type values[kCount];
};

}  // namespace imgpack::gpu
