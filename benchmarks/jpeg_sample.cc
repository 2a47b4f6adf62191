#include "benchmarks/jpeg_sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "codec/jpeg/index_builder.h"
#include "mmap/file.h"

namespace fs = std::filesystem;

namespace imgpack {

namespace {

std::vector<std::byte> read_file(const fs::path& path) {
  const File file = File::open(path, File::Mode::read);
  std::vector<std::byte> bytes(file.size());
  file.read_at(0, bytes);
  return bytes;
}

bool is_jpeg(std::span<const std::byte> file) {
  return file.size() > 3 && file[0] == std::byte{0xFF} && file[1] == std::byte{0xD8} && file[2] == std::byte{0xFF};
}

/// [0, 1)
double uniform(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

}  // namespace

std::uint64_t JpegSample::bytes() const {
  return std::accumulate(images.begin(), images.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const SampleJpeg& image) { return sum + image.file.size(); });
}

JpegSample load_jpeg_sample(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  JpegSample sample;
  jpeg::IndexBuilder builder;
  ByteBuffer index;
  for (fs::path& path : paths) {
    std::vector<std::byte> file = read_file(path);
    if (!is_jpeg(file)) continue;
    const jpeg::Indexability indexability = builder.build(file, {}, index);
    if (indexability != jpeg::Indexability::indexable) {
      ++sample.left_out[std::string(to_string(indexability))];
      continue;
    }
    const jpeg::Frame& frame = open_index(index.bytes(), file).frame;
    sample.images.push_back(
        {std::move(path), std::move(file), {index.bytes().begin(), index.bytes().end()}, {frame.width, frame.height}});
  }
  if (sample.images.empty()) throw std::runtime_error("no JPEG files that can be indexed in " + folder.string());
  return sample;
}

jpeg::SegmentIndex open_index(std::span<const std::byte> bytes, std::span<const std::byte> file) {
  jpeg::SegmentIndex index;
  if (open_segment_index(bytes, file, index) != jpeg::IndexStatus::ok) {
    throw std::runtime_error("a segment index does not open");
  }
  return index;
}

Rect random_resized_crop(Size size, std::mt19937_64& random) {
  const double area = static_cast<double>(size.width) * size.height;
  const double least = 3.0 / 4;
  const double most = 4.0 / 3;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * (0.08 + 0.92 * uniform(random));
    const double ratio = std::exp(std::log(least) + (std::log(most) - std::log(least)) * uniform(random));
    const auto width = static_cast<std::uint32_t>(std::nearbyint(std::sqrt(target * ratio)));
    const auto height = static_cast<std::uint32_t>(std::nearbyint(std::sqrt(target / ratio)));
    if (width == 0 || width > size.width || height == 0 || height > size.height) continue;
    const auto y = static_cast<std::uint32_t>(uniform(random) * (size.height - height + 1));
    const auto x = static_cast<std::uint32_t>(uniform(random) * (size.width - width + 1));
    return {x, y, width, height};
  }
  const double ratio = static_cast<double>(size.width) / size.height;
  std::uint32_t width = size.width;
  std::uint32_t height = size.height;
  if (ratio < least) height = static_cast<std::uint32_t>(std::nearbyint(width / least));
  if (ratio > most) width = static_cast<std::uint32_t>(std::nearbyint(height * most));
  return {(size.width - width) / 2, (size.height - height) / 2, width, height};
}

std::vector<SampleCrop> random_resized_crops(const JpegSample& sample, int per_image) {
  std::mt19937_64 random(1);
  std::vector<SampleCrop> crops;
  for (std::size_t i = 0; i < sample.images.size(); ++i) {
    for (int n = 0; n < per_image; ++n) crops.push_back({i, random_resized_crop(sample.images[i].size, random)});
  }
  return crops;
}

}  // namespace imgpack
