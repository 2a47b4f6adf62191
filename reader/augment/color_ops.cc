#include "reader/augment/color_ops.h"

#include "reader/augment/color_kernels.h"
#include "reader/augment/hue.h"
#include "reader/augment/hue_math.h"
#include "reader/augment/plain_color.h"

namespace imgpack {

namespace {

template <class Work>
void for_each_row(RgbView image, Work work) {
  for (std::uint32_t y = 0; y < image.height; ++y) work(image.row(y));
}

int mean_luma(RgbView image) {
  std::uint64_t sum = 0;
  for_each_row(image, [&](const std::uint8_t* row) { sum += sum_luma(row, image.width); });
  return plain::mean_luma(sum, std::uint64_t{image.width} * image.height);
}

void blend_with(RgbView image, int from, float factor) {
  for_each_row(image, [&](std::uint8_t* row) { blend_row_with(row, std::size_t{image.width} * 3, from, factor); });
}

}  // namespace

void apply_color(const ColorOp& op, RgbView image) {
  using Kind = ColorOp::Kind;
  if (changes_nothing(op)) return;
  switch (op.kind) {
    case Kind::brightness:
      return blend_with(image, 0, op.factor);
    case Kind::contrast:
      return blend_with(image, mean_luma(image), op.factor);
    case Kind::saturation:
      return for_each_row(image, [&](std::uint8_t* row) { saturate_row(row, image.width, op.factor); });
    case Kind::hue: {
      const std::uint8_t shift = plain::hue_shift(op.factor);
      return for_each_row(image, [&](std::uint8_t* row) { turn_hue_row(row, image.width, shift); });
    }
    case Kind::grayscale:
      return for_each_row(image, [&](std::uint8_t* row) { gray_row(row, image.width); });
  }
}

}  // namespace imgpack
