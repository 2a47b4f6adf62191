// In the place of CUDA's header: conversions, as half.h does them.
#pragma once

#include <cstdint>

#include "reader/augment/half.h"

struct HostHalf {
  std::uint16_t bits;
};

inline HostHalf __ushort_as_half(std::uint16_t bits) {
  return {bits};
}
inline std::uint16_t __half_as_ushort(HostHalf half) {
  return half.bits;
}
inline float __half2float(HostHalf half) {
  return imgpack::from_float16(half.bits);
}
inline HostHalf __float2half_rn(float value) {
  return {imgpack::to_float16(value)};
}
