#include "codec/headers/tiff_layouts.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace imgpack::headers {

namespace {

enum Order : std::uint8_t { kLittle = 1, kBig = 2, kBoth = 3 };
enum Photometric : std::uint8_t {
  kWhiteIsZero = 0,
  kBlackIsZero = 1,
  kRgb = 2,
  kPalette = 3,
  kCmyk = 5,
  kYcbcr = 6,
  kLab = 8
};
enum Format : std::uint8_t { kUnsigned = 1, kSigned = 2, kFloat = 3 };

constexpr std::uint8_t kUnassociated = 2;
constexpr std::uint8_t kAssociated = 1;

struct Row {
  std::uint8_t orders;
  std::uint8_t photometric;
  std::uint8_t format;
  std::uint8_t bits;  ///< of each sample
  std::uint8_t samples;
  std::array<std::uint16_t, 3> extra;
  std::uint8_t extra_count;
  std::uint8_t channels;
  std::uint8_t planes;           ///< with fill order 1, 0: not read
  std::uint8_t planes_reversed;  ///< with fill order 2, 0: not read
};

constexpr Row kRows[] = {
    // Gray, one sample.
    {kBoth, kWhiteIsZero, kUnsigned, 1, 1, {}, 0, 1, 3, 4},
    {kBoth, kBlackIsZero, kUnsigned, 1, 1, {}, 0, 1, 1, 3},
    {kBoth, kWhiteIsZero, kUnsigned, 2, 1, {}, 0, 1, 4, 5},
    {kBoth, kBlackIsZero, kUnsigned, 2, 1, {}, 0, 1, 3, 4},
    {kBoth, kWhiteIsZero, kUnsigned, 4, 1, {}, 0, 1, 4, 5},
    {kBoth, kBlackIsZero, kUnsigned, 4, 1, {}, 0, 1, 3, 4},
    {kBoth, kWhiteIsZero, kUnsigned, 8, 1, {}, 0, 1, 3, 4},
    {kBoth, kBlackIsZero, kUnsigned, 8, 1, {}, 0, 1, 1, 3},
    {kLittle, kBlackIsZero, kUnsigned, 12, 1, {}, 0, 1, 4, 0},
    {kLittle, kWhiteIsZero, kUnsigned, 16, 1, {}, 0, 1, 4, 0},
    {kLittle, kBlackIsZero, kUnsigned, 16, 1, {}, 0, 1, 4, 5},
    {kBig, kBlackIsZero, kUnsigned, 16, 1, {}, 0, 1, 5, 0},
    {kLittle, kBlackIsZero, kSigned, 16, 1, {}, 0, 1, 5, 0},
    {kBig, kBlackIsZero, kSigned, 16, 1, {}, 0, 1, 6, 0},
    {kLittle, kWhiteIsZero, kFloat, 32, 1, {}, 0, 1, 5, 0},
    {kBig, kWhiteIsZero, kFloat, 32, 1, {}, 0, 1, 6, 0},
    {kLittle, kBlackIsZero, kUnsigned, 32, 1, {}, 0, 1, 5, 0},
    {kLittle, kBlackIsZero, kSigned, 32, 1, {}, 0, 1, 5, 0},
    {kBig, kBlackIsZero, kSigned, 32, 1, {}, 0, 1, 6, 0},
    {kLittle, kBlackIsZero, kFloat, 32, 1, {}, 0, 1, 5, 0},
    {kBig, kBlackIsZero, kFloat, 32, 1, {}, 0, 1, 6, 0},
    {kBoth, kBlackIsZero, kUnsigned, 8, 2, {kUnassociated}, 1, 2, 2, 0},
    // RGB; a missing meaning of the fourth sample stands for alpha, as does the 999 of one well-known program.
    {kBoth, kRgb, kUnsigned, 8, 3, {}, 0, 3, 3, 5},
    {kBoth, kRgb, kUnsigned, 8, 4, {}, 0, 4, 4, 0},
    {kBoth, kRgb, kUnsigned, 8, 4, {0}, 1, 4, 4, 0},
    {kBoth, kRgb, kUnsigned, 8, 5, {0, 0}, 2, 4, 5, 0},
    {kBoth, kRgb, kUnsigned, 8, 6, {0, 0, 0}, 3, 4, 6, 0},
    {kBoth, kRgb, kUnsigned, 8, 4, {kAssociated}, 1, 4, 4, 0},
    {kBoth, kRgb, kUnsigned, 8, 5, {kAssociated, 0}, 2, 4, 5, 0},
    {kBoth, kRgb, kUnsigned, 8, 6, {kAssociated, 0, 0}, 3, 4, 6, 0},
    {kBoth, kRgb, kUnsigned, 8, 4, {kUnassociated}, 1, 4, 4, 0},
    {kBoth, kRgb, kUnsigned, 8, 5, {kUnassociated, 0}, 2, 4, 5, 0},
    {kBoth, kRgb, kUnsigned, 8, 6, {kUnassociated, 0, 0}, 3, 4, 6, 0},
    {kBoth, kRgb, kUnsigned, 8, 4, {999}, 1, 4, 4, 0},
    {kBoth, kRgb, kUnsigned, 16, 3, {}, 0, 3, 7, 0},
    {kBoth, kRgb, kUnsigned, 16, 4, {}, 0, 4, 8, 0},
    {kBoth, kRgb, kUnsigned, 16, 4, {0}, 1, 4, 8, 0},
    {kBoth, kRgb, kUnsigned, 16, 4, {kAssociated}, 1, 4, 8, 0},
    {kBoth, kRgb, kUnsigned, 16, 4, {kUnassociated}, 1, 4, 8, 0},
    // Palettes.
    {kBoth, kPalette, kUnsigned, 1, 1, {}, 0, 1, 3, 4},
    {kBoth, kPalette, kUnsigned, 2, 1, {}, 0, 1, 3, 4},
    {kBoth, kPalette, kUnsigned, 4, 1, {}, 0, 1, 3, 4},
    {kBoth, kPalette, kUnsigned, 8, 1, {}, 0, 1, 1, 3},
    {kBoth, kPalette, kUnsigned, 8, 2, {kUnassociated}, 1, 2, 2, 0},
    // CMYK, YCbCr, CIE L*a*b*.
    {kBoth, kCmyk, kUnsigned, 8, 4, {}, 0, 4, 4, 0},
    {kBoth, kCmyk, kUnsigned, 8, 5, {0}, 1, 4, 5, 0},
    {kBoth, kCmyk, kUnsigned, 8, 6, {0, 0}, 2, 4, 6, 0},
    {kLittle, kCmyk, kUnsigned, 16, 4, {}, 0, 4, 8, 0},
    {kBoth, kYcbcr, kUnsigned, 8, 3, {}, 0, 3, 4, 0},
    {kBoth, kLab, kUnsigned, 8, 3, {}, 0, 3, 3, 0},
};

bool matches(const Row& row, const TiffLayout& layout) {
  if ((row.orders & (layout.big_endian ? kBig : kLittle)) == 0) return false;
  if (row.photometric != layout.photometric || row.format != layout.sample_format) return false;
  if (layout.bits.size() != row.samples || layout.extra_samples.size() != row.extra_count) return false;
  return std::all_of(layout.bits.begin(), layout.bits.end(), [&](double bits) { return bits == row.bits; }) &&
         std::equal(layout.extra_samples.begin(), layout.extra_samples.end(), row.extra.begin(),
                    [](double a, std::uint16_t b) { return a == b; });
}

}  // namespace

TiffPixels find_tiff_pixels(const TiffLayout& layout) {
  for (const Row& row : kRows) {
    if (!matches(row, layout)) continue;
    const std::uint8_t planes = layout.fill_order == 1   ? row.planes
                                : layout.fill_order == 2 ? row.planes_reversed
                                                         : std::uint8_t{0};
    if (planes == 0) return {};
    return {.channels = row.channels, .palette = row.photometric == kPalette, .max_planes = planes};
  }
  return {};
}

}  // namespace imgpack::headers
