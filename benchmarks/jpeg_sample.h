// The JPEG files that benchmarks decode, in memory with their segment indexes, and random crops of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "codec/image.h"
#include "codec/jpeg/segment_index.h"

namespace imgpack {

struct SampleJpeg {
  std::filesystem::path path;
  std::vector<std::byte> file;
  std::vector<std::byte> index;  ///< with the default options
  Size size;
};

struct JpegSample {
  std::vector<SampleJpeg> images;
  std::map<std::string, int> left_out;  ///< files that have no segment index, by reason

  /// Of all images' files.
  std::uint64_t bytes() const;
};

/// All JPEG files of a folder and its subfolders, in the order of their paths. Throws std::runtime_error if there are
/// none, and what reading them throws.
JpegSample load_jpeg_sample(const std::filesystem::path& folder);

/// `bytes` as an opened index of `file`. Throws std::runtime_error if it is none.
jpeg::SegmentIndex open_index(std::span<const std::byte> bytes, std::span<const std::byte> file);

/// torchvision's RandomResizedCrop.get_params() with its defaults: 8 % to 100 % of the area, sides from 3:4 to 4:3, ten
/// tries, then the middle.
Rect random_resized_crop(Size size, std::mt19937_64& random);

struct SampleCrop {
  std::size_t image;
  Rect rect;
};

/// `per_image` crops of each image, the same ones each time.
std::vector<SampleCrop> random_resized_crops(const JpegSample& sample, int per_image);

}  // namespace imgpack
