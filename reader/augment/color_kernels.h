// The inner loops of color_ops.h that vectors help, for whatever vector instructions the processor has. Rows of packed
// RGB, in place.
#pragma once

#include <cstddef>
#include <cstdint>

namespace imgpack {

/// The sum of the pixels' luma(). REQUIRES: width < 2^23, which sums of 32 bits allow.
std::uint64_t sum_luma(const std::uint8_t* rgb, std::size_t width);
/// Every value `v` becomes blend(from, v, factor).
void blend_row_with(std::uint8_t* values, std::size_t count, int from, float factor);
/// Every value `v` becomes blend(luma of its pixel, v, factor).
void saturate_row(std::uint8_t* rgb, std::size_t width, float factor);
/// All three values of a pixel become its luma.
void gray_row(std::uint8_t* rgb, std::size_t width);

}  // namespace imgpack
