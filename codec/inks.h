// CMYK to RGB as Pillow's cmyk2rgb (Convert.c) does it: no colour management.
#pragma once

#include <cstdint>

namespace imgpack {

/// Inks from 0 to 255, 0 is none. Writes three bytes.
inline void inks_to_rgb(unsigned cyan, unsigned magenta, unsigned yellow, unsigned black, std::uint8_t* rgb) noexcept {
  const unsigned white = 255 - black;
  const auto remaining = [white](unsigned ink) {
    const unsigned product = ink * white + 128;  // Pillow's MULDIV255
    return static_cast<std::uint8_t>(white - (((product >> 8) + product) >> 8));
  };
  rgb[0] = remaining(cyan);
  rgb[1] = remaining(magenta);
  rgb[2] = remaining(yellow);
}

}  // namespace imgpack
