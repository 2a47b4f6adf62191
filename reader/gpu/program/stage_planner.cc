// Compiled without contraction of floating-point operations, as axis_math.h wants it.
#include "reader/gpu/program/stage_planner.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "codec/resize/resample_axis.h"
#include "reader/gpu/program/work.h"

namespace imgpack::gpu {

namespace {

/// A side of the canvas and of what is placed on it.
struct Side {
  std::uint32_t place = 0;  ///< where on the canvas the image begins to show
  std::uint32_t skipped = 0;
  std::uint32_t shown = 0;  ///< 0: nothing
};

Side side_of(std::int64_t begin, std::int64_t length, std::int64_t size) {
  const std::int64_t place = std::max<std::int64_t>(0, -begin);
  const std::int64_t shown = std::min(length, size - begin) - place;
  if (shown <= 0) return {};
  return {static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(begin + place),
          static_cast<std::uint32_t>(shown)};
}

double filter_support(Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::box:
    case Interpolation::nearest:
      return axis_math::BoxFilter::kSupport;
    case Interpolation::bilinear:
    case Interpolation::hamming:
      return axis_math::BilinearFilter::kSupport;
    case Interpolation::bicubic:
      return axis_math::BicubicFilter::kSupport;
    case Interpolation::lanczos:
      return 3;
  }
  return 0;
}

bool copies(const AxisRequest& request) {
  return request.interpolation == Interpolation::nearest || request.keeps_pixels();
}

AxisTable plan_axis(std::uint32_t source, std::uint32_t size, const Side& side, Interpolation interpolation) {
  AxisTable axis;
  axis.request = {.source = source,
                  .begin = 0,
                  .end = static_cast<float>(source),
                  .size = size,
                  .interpolation = interpolation,
                  .skipped = side.skipped,
                  .kept = side.shown};
  axis.stride =
      copies(axis.request) ? 1 : axis_math::Placement(axis.request, filter_support(interpolation)).most_positions();
  return axis;
}

struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// The positions that an axis depends on.
Range needed(const AxisRequest& request) {
  if (request.kept == 0) return {};
  Range range;
  if (request.interpolation == Interpolation::nearest) {
    axis_math::for_each_nearest(request, [&range](std::uint32_t i, axis_math::Window window) {
      if (i == 0) range = {window.first, window.first};
      if (window.count != 0) range.end = window.first + 1;
    });
  } else if (request.keeps_pixels()) {
    range = {request.skipped, request.skipped + request.kept};
  } else {
    const axis_math::Placement placement(request, filter_support(request.interpolation));
    const axis_math::Window last = placement.window(request, request.kept - 1);
    range = {placement.window(request, 0).first, last.first + last.count};
  }
  return range;
}

/// Result columns whose windows lie within kTileColumns, wherever they begin.
std::uint32_t tile_of(const AxisTable& axis, const Range& range) {
  if (range.end - range.begin <= kTileColumns) return std::max(axis.request.kept, 1U);
  const std::uint32_t slack = axis.stride + 2;
  if (slack > kTileColumns) return 0;
  const double scale =
      copies(axis.request) && axis.request.interpolation != Interpolation::nearest ? 1.0 : axis.request.scale();
  return std::max(1U, static_cast<std::uint32_t>(std::min((kTileColumns - slack) / scale, 65536.0)));
}

}  // namespace

void plan_stage(const PlanStage& stage, StageTask& task) {
  task = {};
  const Canvas& canvas = stage.canvas;
  Side columns = side_of(canvas.left, canvas.size.width, stage.scaled.width);
  Side rows = side_of(canvas.top, canvas.size.height, stage.scaled.height);
  if (columns.shown == 0 || rows.shown == 0) columns = rows = {};
  task.columns = plan_axis(stage.crop.width, stage.scaled.width, columns, stage.interpolation);
  task.rows = plan_axis(stage.crop.height, stage.scaled.height, rows, stage.interpolation);
  const Range needed_columns = needed(task.columns.request);
  const Range needed_rows = needed(task.rows.request);
  task.column_begin = needed_columns.begin;
  task.column_end = needed_columns.end;
  task.row_begin = needed_rows.begin;
  task.row_end = needed_rows.end;
  task.tile = tile_of(task.columns, needed_columns);
  task.left = stage.crop.x;
  task.top = stage.crop.y;
  task.width = canvas.size.width;
  task.height = canvas.size.height;
  task.place_left = columns.place;
  task.place_top = rows.place;
  std::copy(canvas.fill.begin(), canvas.fill.end(), task.fill);
  task.flip = stage.flip;
  task.pads = columns.shown != canvas.size.width || rows.shown != canvas.size.height;
}

Rect source_part(const StageTask& task) noexcept {
  return {task.left + task.column_begin, task.top + task.row_begin, task.column_end - task.column_begin,
          task.row_end - task.row_begin};
}

bool needs_host(const AxisTable& axis) noexcept {
  const Interpolation interpolation = axis.request.interpolation;
  return (interpolation == Interpolation::hamming || interpolation == Interpolation::lanczos) &&
         !axis.request.keeps_pixels() && axis.request.kept != 0;
}

void compute_axis(const AxisTable& axis, std::uint32_t* numbers) {
  ResampleAxis computed;
  computed.compute(axis.request);
  const std::uint32_t kept = axis.request.kept;
  std::copy(computed.first.begin(), computed.first.end(), numbers);
  std::copy(computed.count.begin(), computed.count.end(), numbers + kept);
  std::uint32_t* const weights = numbers + 2 * std::size_t{kept};
  for (std::uint32_t i = 0; i < kept; ++i) {
    std::memcpy(weights + std::size_t{i} * axis.stride, computed.weights.data() + std::size_t{i} * computed.stride,
                computed.count[i] * sizeof(std::uint32_t));
  }
}

}  // namespace imgpack::gpu
