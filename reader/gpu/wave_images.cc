#include "reader/gpu/wave_images.h"

#include "reader/gpu/kernels/jpeg_kernels.h"
#include "reader/gpu/program/work.h"

namespace imgpack::gpu {

namespace {

/// With its share of the list of left segments.
ScratchBytes bytes_in_wave(const ImagePlan& image) {
  return {image.scratch.general + image.segments * sizeof(LeftSegment), image.scratch.coefficients};
}

/// So that the last wave of a batch is not a tiny one.
std::size_t even_share(std::size_t total, std::size_t most) {
  const std::size_t waves = ceil_div(total, most);
  return waves == 0 ? most : total / waves + 1;
}

}  // namespace

bool uses_waves(const ImagePlan& image) noexcept {
  return image.path == ImagePath::jpeg || image.path == ImagePath::pixels;
}

std::vector<WaveImages> cut_waves(std::span<const ImagePlan> images, std::size_t lane_bytes) {
  std::size_t all = 0;
  for (const ImagePlan& image : images) all += uses_waves(image) ? bytes_in_wave(image).total() : 0;
  const std::size_t share = even_share(all, lane_bytes);
  std::vector<WaveImages> waves;
  for (std::uint32_t i = 0; i < images.size(); ++i) {
    if (!uses_waves(images[i])) continue;
    const ScratchBytes needed = bytes_in_wave(images[i]);
    if (waves.empty() || waves.back().bytes.total() >= share ||
        waves.back().bytes.total() + needed.total() > lane_bytes) {
      waves.push_back({.first = i, .end = i, .bytes = {.general = 4 * Carver::kAlignment}});  // of the list's pieces
    }
    WaveImages& wave = waves.back();
    wave.end = i + 1;
    wave.bytes.general += needed.general;
    wave.bytes.coefficients += needed.coefficients;
    wave.segments += images[i].segments;
  }
  return waves;
}

}  // namespace imgpack::gpu
