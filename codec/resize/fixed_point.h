// The arithmetic of one resampled value, for the host and for CUDA: weights are integers with 22 bits behind the point,
// as in Pillow's Resample.c, and a pass rounds and clamps to 8 bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/clamp.h"
#include "codec/host_device.h"

namespace imgpack {

inline constexpr int kWeightBits = 22;
inline constexpr std::int32_t kWeightOne = 1 << kWeightBits;
/// What a sum starts with, so that finish_value() rounds to nearest.
inline constexpr std::int32_t kWeightHalf = 1 << (kWeightBits - 1);

/// sum + value * weight, modulo 2^32: signed overflow would be undefined, and partial sums may overflow harmlessly.
IMGPACK_HD constexpr std::int32_t add_weighted(std::int32_t sum, std::uint8_t value, std::int32_t weight) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) +
                                   static_cast<std::uint32_t>(value) * static_cast<std::uint32_t>(weight));
}

IMGPACK_HD constexpr std::uint8_t finish_value(std::int32_t sum) noexcept {
  return clamp_to_byte(sum >> kWeightBits);
}

/// One channel of one result: the sum over `count` source values that lie `step` bytes apart.
IMGPACK_HD constexpr std::uint8_t resample_value(const std::uint8_t* source, std::size_t step,
                                                 const std::int32_t* weights, std::uint32_t count) noexcept {
  std::int32_t sum = kWeightHalf;
  for (std::uint32_t i = 0; i < count; ++i) sum = add_weighted(sum, source[i * step], weights[i]);
  return finish_value(sum);
}

}  // namespace imgpack
