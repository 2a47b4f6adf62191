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

struct ResizeOptions {
  Size source;  ///< what is passed to take(): at least 1x1
  Box box;      ///< inside the source, not empty
  Interpolation interpolation = Interpolation::bilinear;
};

/// Not thread-safe; keeps its memory and, from image to image, its filter tables.
class Resizer final : public RowSink {
 public:
  Resizer();
  ~Resizer() override;
  Resizer(Resizer&&) noexcept;
  Resizer& operator=(Resizer&&) noexcept;

  /// Begins an image; the result has the size of `out`, at least 1x1. Throws invalid_argument for an empty size, a box
  /// outside the source or one that is not finite. REQUIRES: `out` outlives the calls of take().
  void start(const ResizeOptions& options, RgbView out);
  /// Rows of the source that the result depends on: [first_row(), end_row()). Others may be left out.
  std::uint32_t first_row() const noexcept;
  std::uint32_t end_row() const noexcept;
  /// Source rows in order, from at most first_row() on without gaps.
  void take(std::uint32_t y, ConstRgbView rows) override;
  /// Whether every row of the result has been written.
  bool done() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The same for an image in memory.
void resize(ConstRgbView source, const Box& box, Interpolation interpolation, RgbView out, Resizer& resizer);

}  // namespace imgpack
