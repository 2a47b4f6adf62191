// Small real images, the same bytes on every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace imgpack::testing {

struct JpegOptions {
  int quality = 90;
  bool gray = false;
  bool progressive = false;
  bool cmyk = false;
  int orientation = 0;  ///< EXIF; 0: no EXIF
};

/// A JPEG of smooth noise that depends on `seed`.
std::vector<std::byte> make_jpeg(int width, int height, std::uint32_t seed, const JpegOptions& options = {});
/// An 8-bit RGB PNG.
std::vector<std::byte> make_png(int width, int height, std::uint32_t seed);

/// folder/train/<class>/<name>.JPEG and folder/val/..., `per_class` images in train and a third of that (at least 1) in
/// val.
void make_image_folder(const std::filesystem::path& folder, int classes, int per_class, std::uint32_t seed = 1);

}  // namespace imgpack::testing
