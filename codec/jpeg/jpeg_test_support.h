// What the tests of this folder share: libjpeg-turbo as the reference, JPEGs of every subsampling, and JPEGs of given
// coefficients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "codec/image.h"
#include "codec/jpeg/frame.h"
#include "codec/jpeg/index_builder.h"
#include "codec/jpeg/segment_index.h"
#include "tests/support/images.h"

namespace imgpack::jpeg::testing {

using Bytes = std::vector<std::byte>;

/// Random numbers of 32 bits, the same on every run.
class Random {
 public:
  explicit Random(std::uint32_t seed) : generator_(seed) {}
  std::uint32_t operator()() { return static_cast<std::uint32_t>(generator_()); }

 private:
  std::mt19937 generator_;
};

/// libjpeg-turbo's whole decode with its default settings.
struct Reference {
  bool ok = false;    ///< false: it gave up, with `message`
  long warnings = 0;  ///< that it gave while it decoded; the pixels are there nevertheless
  std::string message;
  Size size;
  std::uint32_t channels = 0;
  std::vector<std::uint8_t> pixels;  ///< height x width x channels

  /// Whether `crop`, which shows that rectangle of an RGB image, has the same pixels.
  bool equals(ConstRgbView crop, const Rect& rect) const;
};

/// RGB for images of one or three components. Images of more pixels are refused with the message "too large".
Reference decode_rgb(std::span<const std::byte> file, std::uint64_t max_pixels = 1u << 27);
/// The samples of a gray image.
Reference decode_gray(std::span<const std::byte> file);
/// A pixel for each block, made from its DC coefficient only; RGB.
Reference decode_eighth(std::span<const std::byte> file);

/// Coefficients of one component, block by block as libjpeg-turbo reads them, filled up to whole MCUs.
struct Coefficients {
  std::uint32_t blocks_per_row = 0;
  std::vector<std::int16_t> values;  ///< 64 a block, row by row
  std::int16_t dc(std::uint32_t x, std::uint32_t y) const {
    return values[(static_cast<std::size_t>(y) * blocks_per_row + x) * kBlockCoefficients];
  }
};
/// By component. REQUIRES: a file that libjpeg-turbo decodes, with one scan.
std::vector<Coefficients> read_coefficients(std::span<const std::byte> file);

/// A JPEG without subsampling of `components` (1 or 3) times blocks_x x blocks_y blocks. `fill(c, x, y, block)` sets
/// the 64 coefficients of a block, row by row, -1023 to 1023; `quant` are the quantisation values, row by row.
Bytes write_coefficients(
    int components, std::uint32_t blocks_x, std::uint32_t blocks_y, std::span<const std::uint16_t> quant,
    const std::function<void(int c, std::uint32_t x, std::uint32_t y, std::span<std::int16_t> block)>& fill);

/// Sampling factors of three components that libjpeg-turbo writes and reads: the usual ones, and those that nobody
/// uses.
const std::vector<std::vector<imgpack::testing::JpegSampling>>& all_samplings();

/// Options of an indexable JPEG, at random.
imgpack::testing::JpegOptions random_options(Random& random);
/// A rectangle within the image, at random; often small or at an edge.
Rect random_crop(Random& random, Size size);

/// The index of an indexable file. Throws std::runtime_error if it is none.
Bytes index_of(std::span<const std::byte> file, const IndexOptions& options = {});

/// All files below `folder` of the data that IMGPACK_TEST_DATA names, sorted by name.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

}  // namespace imgpack::jpeg::testing
