// Rectangles, pictures and text on an image.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "codec/image.h"

namespace imgpack::tools {

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};

struct TextStyle {
  double height = 9;  ///< of capitals, pixels
  double pen = 1.3;   ///< width of strokes, pixels
  Colour colour;
};

/// All of these leave alone what lies outside `image`.
void fill(RgbView image, const Rect& area, Colour colour);
/// A frame of `thickness` pixels around, and outside of, `area`.
void draw_frame(RgbView image, const Rect& area, std::uint32_t thickness, Colour colour);
void paste(RgbView image, std::uint32_t x, std::uint32_t y, ConstRgbView picture);
/// `text` is UTF-8; `baseline` is the y that letters stand on. Smooth edges.
void draw_text(RgbView image, double x, double baseline, std::string_view text, const TextStyle& style);

/// Pixels from the first stroke's beginning to the last one's end.
double text_width(std::string_view text, const TextStyle& style);
/// `text`, or its beginning, or with `keep_end` its end, with an ellipsis, such that it is at most `width` pixels wide.
std::string fit_text(std::string_view text, double width, const TextStyle& style, bool keep_end);

}  // namespace imgpack::tools
