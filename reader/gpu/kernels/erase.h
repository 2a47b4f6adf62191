// RandomErasing on finished images, as erase() of reader/augment/erasing.h: the same bits, those of noise too.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "codec/image.h"
#include "imgpack/batch.h"
#include "reader/augment/sample_plan.h"

namespace imgpack::gpu {

/// One rectangle of one image. Those of an image stand next to each other, in the order in which they are erased.
struct EraseTask {
  std::byte* image;       ///< the device's; where the image begins
  Rect rect;              ///< lies in the image, or is empty
  std::uint32_t bits[3];  ///< R, G, B: what the rectangle is filled with, in the dtype's bits
  std::uint32_t later;    ///< how many of the tasks after this one are of the same image
  bool noise;             ///< as Erasing
  std::uint32_t operation;
  std::uint64_t key;
  std::uint64_t record;
};

EraseTask make_erase_task(const Erasing& erasing, DType dtype, std::byte* image, std::uint32_t later) noexcept;

/// Queues the work on `count` tasks for images of one size without gaps. `tasks` are the device's and have to stay
/// until it is done. Throws io.
void erase_rects(const EraseTask* tasks, std::uint32_t count, DType dtype, Layout layout, Size size,
                 cudaStream_t stream);

}  // namespace imgpack::gpu
