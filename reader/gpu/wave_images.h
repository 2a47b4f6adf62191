// Which images of a batch are made together, so that what they need while they are made fits a lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reader/gpu/image_plan.h"

namespace imgpack::gpu {

/// Samples [first, end) of the batch, without those that take no part: uses_waves().
struct WaveImages {
  std::uint32_t first = 0;
  std::uint32_t end = 0;
  ScratchBytes bytes;          ///< of all images and the wave's list of left segments
  std::uint32_t segments = 0;  ///< of all images
};

bool uses_waves(const ImagePlan& image) noexcept;

/// Waves of about the same size, none of more than `lane_bytes` unless a single image needs more.
std::vector<WaveImages> cut_waves(std::span<const ImagePlan> images, std::size_t lane_bytes);

}  // namespace imgpack::gpu
