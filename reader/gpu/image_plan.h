// One sample of a batch as a device makes it: planned on any thread, given addresses when the batch is submitted. No
// CUDA here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "imgpack/record.h"
#include "reader/augment/sample_plan.h"
#include "reader/gpu/carver.h"
#include "reader/gpu/program/jpeg_planner.h"
#include "reader/gpu/program/stage_planner.h"
#include "reader/gpu/raw_task.h"
#include "reader/prefetch.h"

namespace imgpack::gpu {

/// How a sample gets into the batch.
enum class ImagePath : std::uint8_t {
  none,    ///< not at all
  jpeg,    ///< decoded by the device
  pixels,  ///< predecoded, with stages as a decoded JPEG has them
  copied,  ///< predecoded, by the one kernel that only cuts out and flips
  host,    ///< made by the host
};

/// Of device memory, while images are made.
struct ScratchBytes {
  std::size_t general = 0;
  std::size_t coefficients = 0;

  std::size_t total() const noexcept { return general + coefficients; }
};

struct ImagePlan {
  ImagePath path = ImagePath::none;
  std::uint32_t segments = 0;                ///< of jpeg: that are decoded
  ScratchBytes scratch;                      ///< that place_image() takes
  std::byte* host_image = nullptr;           ///< of host
  std::vector<StageTask> stages;             ///< of jpeg and pixels
  std::vector<std::vector<ColorOp>> colors;  ///< by stage; none where no stage has any
  std::vector<Erasing> erasings;
  RawTask raw;                         ///< of copied
  std::span<const std::byte> entries;  ///< of jpeg: where the device reads them, when place_image() is called
  std::span<const std::byte> scan;
  std::span<const std::byte> pixels;  ///< of copied: from the crop's first pixel to its last, with what lies between
                                      ///< its rows; of pixels: the rows that are needed, from row `pixel_row` on
  std::uint32_t pixel_row = 0;
  bool on_device = false;  ///< the bytes above have a place in device memory already

  void clear() noexcept;
  bool has_colors(std::size_t stage) const noexcept { return stage < colors.size() && !colors[stage].empty(); }
};

/// Chooses the path and plans it. What needs bytes of the record says where they are in the host's memory; the caller
/// brings them where the device can read them. Keeps the memory that `image` has from before. `jpeg` is filled for
/// ImagePath::jpeg only.
void plan_image(const RecordMeta& meta, const RecordBytes& bytes, const SamplePlan& plan, ImagePlan& image,
                JpegTask& jpeg);

/// The memory of an image that plan_image() will soon fill: with several batches in flight it has left the caches since
/// it was last used.
[[gnu::always_inline]] inline void prefetch_image(const ImagePlan& image, const JpegTask& jpeg) noexcept {
  prefetch(std::as_bytes(std::span(&image, 1)));
  prefetch(std::as_bytes(std::span(&jpeg, 1)));
}

/// Device memory that an image needs while it is made.
struct ImageScratch {
  Carver& general;
  Carver& coefficients;  ///< all zeros between images
};

/// Gives an image its scratch memory and its place in the batch. `jpeg_number`: of `jpeg` among the batch's.
void place_image(ImagePlan& image, JpegTask& jpeg, std::uint32_t jpeg_number, ImageScratch scratch, std::byte* out);

}  // namespace imgpack::gpu
