// One stage of an image's SamplePlan as the device carries it out: crop, resize, canvas, flip. Plain data for host and
// device.
//
// Every stage is two passes with weights (axis_math.h), also where nothing is resized: then a window is one position of
// weight 1. The horizontal pass makes `kept` pixels of each source row that the vertical one needs; the vertical pass
// makes the canvas from them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/resize/axis_math.h"

namespace imgpack::gpu {

inline constexpr std::uint32_t kNoTask = ~std::uint32_t{0};

/// An axis and where its numbers are: `kept` times first, `kept` times count, kept x stride weights.
struct AxisTable {
  AxisRequest request;
  std::uint32_t stride = 0;  ///< weights of a position
  bool given = false;        ///< the host has computed it
  std::uint32_t* numbers = nullptr;

  IMGPACK_HD std::uint32_t size() const { return request.kept * (2 + stride); }
  IMGPACK_HD std::uint32_t first(std::uint32_t i) const { return numbers[i]; }
  IMGPACK_HD std::uint32_t count(std::uint32_t i) const { return numbers[request.kept + i]; }
  IMGPACK_HD const std::int32_t* weights(std::uint32_t i) const {
    return reinterpret_cast<const std::int32_t*>(numbers + 2 * request.kept) + static_cast<std::size_t>(i) * stride;
  }
};

struct StageTask {
  // Where pixels come from: a decoded JPEG, or packed RGB in memory that the device can read.
  std::uint32_t jpeg = kNoTask;
  const std::uint8_t* rgb = nullptr;
  std::uint64_t rgb_stride = 0;
  std::uint32_t left = 0;  ///< source pixel that position 0 of the axes is
  std::uint32_t top = 0;

  AxisTable columns;
  AxisTable rows;
  std::uint32_t column_begin = 0;  ///< positions [begin, end) of the source that anything depends on
  std::uint32_t column_end = 0;
  std::uint32_t row_begin = 0;
  std::uint32_t row_end = 0;
  std::uint32_t tile = 0;  ///< result columns whose source fits a tile of the horizontal pass; 0: not even one

  /// Of the two passes: (row_end - row_begin) x columns.kept pixels of 4 bytes. Of a JPEG's first stage it is where
  /// JpegTask::streams are until all segments are decoded.
  std::uint32_t* between = nullptr;

  std::uint32_t width = 0;  ///< of the canvas
  std::uint32_t height = 0;
  std::uint32_t place_left = 0;  ///< where on the canvas the result is: columns.kept x rows.kept pixels
  std::uint32_t place_top = 0;
  std::uint8_t fill[4] = {};  ///< R, G, B of the rest
  bool flip = false;          ///< the whole canvas
  bool pads = false;

  std::uint8_t* canvas = nullptr;  ///< packed RGB, if a later stage or colors follow
  std::byte* out = nullptr;        ///< else the place in the batch
};

}  // namespace imgpack::gpu
