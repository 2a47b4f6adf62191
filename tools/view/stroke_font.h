// The shapes of letters, as strokes of a round pen: what a contact sheet needs to write captions without a font file.
#pragma once

#include <string_view>

namespace imgpack::tools {

/// Heights on the grid that strokes are drawn on: y from 0, the top of capitals, downwards.
inline constexpr int kCapitalHeight = 6;  ///< the baseline's y
inline constexpr int kDescent = 2;        ///< below the baseline

/// Polylines, separated by commas; each a row of points, separated by spaces, each a digit x and a digit y. A point
/// alone twice is a dot. Printable ASCII, the letters of Latin-1 (without their accents), and a few signs; others are a
/// box. A space has no strokes.
std::string_view strokes_of(char32_t character) noexcept;

}  // namespace imgpack::tools
