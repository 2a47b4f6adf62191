// Pixels as 0xBBGGRR, and weighted sums of them. Device code only.
#pragma once

#include <cstdint>

#include "codec/resize/fixed_point.h"

namespace imgpack::gpu {

__device__ inline std::uint32_t pack_rgb(std::uint32_t r, std::uint32_t g, std::uint32_t b) {
  return r | g << 8 | b << 16;
}

/// A result pixel of a pass, channel by channel as resample_value() computes it.
struct PixelSum {
  std::int32_t channels[3] = {kWeightHalf, kWeightHalf, kWeightHalf};

  __device__ void add(std::uint32_t pixel, std::int32_t weight) {
#pragma unroll
    for (std::uint32_t c = 0; c < 3; ++c) {
      channels[c] = add_weighted(channels[c], static_cast<std::uint8_t>(pixel >> (8 * c)), weight);
    }
  }
  __device__ std::uint32_t finish() const {
    return pack_rgb(finish_value(channels[0]), finish_value(channels[1]), finish_value(channels[2]));
  }
};

}  // namespace imgpack::gpu
