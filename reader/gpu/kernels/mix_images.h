// MixUp and CutMix on a batch in the device's memory, bit for bit as BatchMixer::mix_images does it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <cuda_runtime_api.h>

#include "codec/image.h"
#include "imgpack/batch.h"
#include "reader/augment/batch_mixer.h"

namespace imgpack::gpu {

/// Queues the mixing, in place, of the first `count` of images of one size, which lie without gaps in the device's
/// memory from `images` on, aligned to the dtype. `previous`: the index of the predecessor of the first image, as it is
/// before anything is mixed; nothing: the last of the `count`. REQUIRES: mix.pasted lies in an image, or is empty.
/// Throws io.
void mix_images(const Mix& mix, DType dtype, Layout layout, Size size, std::byte* images, std::uint32_t count,
                std::optional<std::size_t> previous, cudaStream_t stream);

}  // namespace imgpack::gpu
