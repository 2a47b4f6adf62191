// Pillow's resize, bit for bit, as a stream of rows: rows of the source go in as they are decoded, finished rows of the
// result come out in place, and only the few rows between the two passes are kept.
//
//   Resizer resizer;
//   resizer.start({.source = {500, 375}, .box = whole({500, 375}), .interpolation = Interpolation::bilinear}, out);
//   decoder.decode(resizer);       // a RowSink
//
// The algorithm, its fixed-point precision and its rounding are those of Pillow's Resample.c and, for nearest,
// Geometry.c (Pillow 9.4).
#pragma once

#include <cstdint>
#include <memory>

#include "codec/image.h"
#include "imgpack/transform.h"

namespace imgpack {

/// A rectangle of the source with fractional edges, as Image.resize(box=...) takes it.
struct Box {
  float left = 0;
  float top = 0;
  float right = 0;
  float bottom = 0;
};

constexpr Box whole(Size size) noexcept {
  return {0, 0, static_cast<float>(size.width), static_cast<float>(size.height)};
}

/// Of sources and results: up to here, single precision (which the edges of a box have) holds every whole number.
inline constexpr std::uint32_t kMaxResizeSide = 1U << 24;

struct ResizeOptions {
  Size source;  ///< what is passed to take(): from 1x1 to kMaxResizeSide a side
  Box box;      ///< inside the source, not empty; the filter also sees what lies around it
  Interpolation interpolation = Interpolation::bilinear;
  /// What the box becomes, if only a part of that is wanted: the part of `out`'s size at (left, top). 0x0: all, that is
  /// out's size.
  Size result = {};
  std::uint32_t left = 0;
  std::uint32_t top = 0;
  /// Rows that are passed to take() hold columns [first_column(), end_column()) only.
  bool needed_columns_only = false;
};

/// Not thread-safe; keeps its memory and, for images that need the same, its filter tables. Between start() and the end
/// of the image it must not be moved from. Memory: about (filter height + 4) rows of the result, and the tables.
class Resizer final : public RowSink {
 public:
  Resizer();
  ~Resizer() override;
  Resizer(Resizer&&) noexcept;
  Resizer& operator=(Resizer&&) noexcept;

  /// Begins an image. Throws invalid_argument for an empty or too large size, for a part outside the result, and for a
  /// box that is empty, outside the source or not finite; std::bad_alloc. After an
  /// exception nothing may be taken before another start(). REQUIRES: `out` outlives the calls of take() and shares no
  /// memory with their rows.
  void start(const ResizeOptions& options, RgbView out);
  /// Rows of the source that the result depends on: [first_row(), end_row()), none before start(). Others may be left
  /// out.
  std::uint32_t first_row() const noexcept;
  std::uint32_t end_row() const noexcept;
  /// Columns of the source that the result depends on. Unless options.needed_columns_only, the other pixels of a row
  /// must be there, with any values.
  std::uint32_t first_column() const noexcept;
  std::uint32_t end_column() const noexcept;
  /// Source rows in order, from at most first_row() on without gaps; rows of the result are written as soon as they can
  /// be. Throws invalid_argument for rows of another width than the source's (or the needed columns') and for gaps.
  void take(std::uint32_t y, ConstRgbView rows) override;
  /// Whether every row of the result has been written.
  bool done() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The same for an image in memory. Throws as start() does.
void resize(ConstRgbView source, const Box& box, Interpolation interpolation, RgbView out, Resizer& resizer);

}  // namespace imgpack
