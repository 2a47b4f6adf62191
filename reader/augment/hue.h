// Turning the hue of 8-bit RGB through Pillow's 8-bit HSV, bit for bit, from tables of its arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>

namespace imgpack {

/// As adjust_hue of torchvision for packed pixels, in place: the hue of 256 steps is turned by `shift` of them.
/// Thread-safe.
void turn_hue_row(std::uint8_t* rgb, std::size_t width, std::uint8_t shift);

}  // namespace imgpack
