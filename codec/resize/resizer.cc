#include "codec/resize/resizer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "codec/resize/passes.h"
#include "codec/resize/resample_axis.h"
#include "imgpack/error.h"

namespace imgpack {

namespace {

constexpr std::size_t kChannels = RgbImage::kChannels;

void check_size(Size size, const char* what) {
  const auto fits = [](std::uint32_t side) { return side >= 1 && side <= kMaxResizeSide; };
  if (fits(size.width) && fits(size.height)) return;
  throw Error(ErrorCode::invalid_argument, fmt::format("a resize {} of {}x{} pixels: both must be 1 to {}", what,
                                                       size.width, size.height, kMaxResizeSide));
}

void check_box(const Box& box, Size source) {
  const auto inside = [](float begin, float end, std::uint32_t size) {  // false for NaN
    return begin >= 0 && begin < end && end <= static_cast<float>(size);
  };
  if (inside(box.left, box.right, source.width) && inside(box.top, box.bottom, source.height)) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("a box from ({}, {}) to ({}, {}) is empty or outside an image of {}x{} pixels", box.left,
                          box.top, box.right, box.bottom, source.width, source.height));
}

void check_part(const Rect& part, Size result) {
  if (lies_in(part, result)) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("a part of {}x{} pixels at {},{} of a resize result of {}x{}", part.width, part.height,
                          part.x, part.y, result.width, result.height));
}

/// An axis with the pass made ready for it, both kept until something else is asked for.
template <typename Pass>
struct Stage {
  std::optional<AxisRequest> request;
  ResampleAxis axis;
  Pass pass;

  template <typename... More>
  void prepare(const AxisRequest& wanted, More... more) {
    if (request == wanted) return;
    request.reset();
    axis.compute(wanted);
    pass.prepare(axis, more...);
    request = wanted;
  }
  void forget() { request.reset(); }
};

}  // namespace

struct Resizer::State {
  RgbView out;
  bool is_nearest = false;
  bool needed_columns_only = false;
  std::uint32_t row_begin = 0;  ///< column of the source that the rows passed to take() begin with
  std::uint32_t row_end = 0;
  Stage<resampling::HorizontalPass> horizontal;
  Stage<resampling::VerticalPass> vertical;
  resampling::RowRing ring;
  std::uint32_t next_row = 0;     ///< of the source: earlier ones have been taken
  std::uint32_t next_result = 0;  ///< row of the result: earlier ones have been written

  std::size_t result_bytes() const { return out.width * kChannels; }
  bool copies_only() const { return horizontal.axis.is_copy && vertical.axis.is_copy; }
  void filter(std::uint32_t y, std::uint32_t end, ConstRgbView rows);
  void copy(std::uint32_t y, std::uint32_t end, ConstRgbView rows);
  void copy_row(const std::uint8_t* from, std::uint8_t* result) const;
};

/// Rows [next_row, end), where `rows` begins at row `y`.
void Resizer::State::filter(std::uint32_t y, std::uint32_t end, ConstRgbView rows) {
  std::array<const std::uint8_t*, resampling::kMaxRows> sources;
  std::array<std::uint8_t*, resampling::kMaxRows> results;
  while (next_row < end) {
    const std::size_t count = std::min<std::size_t>(end - next_row, resampling::kMaxRows);
    for (std::size_t i = 0; i < count; ++i, ++next_row) {
      sources[i] = rows.row(next_row - y);
      results[i] = ring.row(next_row);
    }
    horizontal.pass.run(std::span(sources).first(count), std::span(results).first(count));
    const ResampleAxis& axis = vertical.axis;
    while (next_result < out.height && axis.first[next_result] + axis.count[next_result] <= next_row) {
      vertical.pass.run(axis, next_result, ring, result_bytes(), out.row(next_result));
      ++next_result;
    }
  }
}

/// The same where every pixel of the result is one of the source.
void Resizer::State::copy(std::uint32_t y, std::uint32_t end, ConstRgbView rows) {
  next_row = end;
  const ResampleAxis& axis = vertical.axis;
  for (; next_result < out.height; ++next_result) {
    std::uint8_t* const result = out.row(next_result);
    const std::uint32_t from = axis.first[next_result];
    if (axis.count[next_result] == 0) {
      std::memset(result, 0, result_bytes());
    } else if (from >= end) {
      return;
    } else if (next_result > 0 && axis.first[next_result - 1] == from) {
      std::memcpy(result, out.row(next_result - 1), result_bytes());
    } else {
      copy_row(rows.row(from - y), result);
    }
  }
}

void Resizer::State::copy_row(const std::uint8_t* from, std::uint8_t* result) const {
  const ResampleAxis& axis = horizontal.axis;
  if (!is_nearest) {
    std::memcpy(result, from + (axis.first[0] - row_begin) * kChannels, result_bytes());
    return;
  }
  const std::uint32_t* const first = axis.first.data();
  // Four bytes are copied faster than three, where there is a pixel behind on both sides.
  const auto last_column = std::lower_bound(axis.first.begin(), axis.first.end() - 1, row_end - 1);
  const auto wide_end = static_cast<std::uint32_t>(last_column - axis.first.begin());
  std::uint32_t x = 0;
  for (; x < wide_end; ++x) {
    std::memcpy(result + x * kChannels, from + (first[x] - row_begin) * kChannels, kChannels + 1);
  }
  for (; x < out.width && axis.count[x] != 0; ++x) {
    std::memcpy(result + x * kChannels, from + (first[x] - row_begin) * kChannels, kChannels);
  }
  std::memset(result + x * kChannels, 0, (out.width - x) * kChannels);
}

Resizer::Resizer() : state_(std::make_unique<State>()) {}
Resizer::~Resizer() = default;
Resizer::Resizer(Resizer&&) noexcept = default;
Resizer& Resizer::operator=(Resizer&&) noexcept = default;

void Resizer::start(const ResizeOptions& options, RgbView out) {
  const auto& [source, box, interpolation, wanted_result, left, top, needed_columns_only] = options;
  const Size result = wanted_result == Size{} ? Size{out.width, out.height} : wanted_result;
  check_size(source, "source");
  check_size(result, "result");
  check_box(box, source);
  check_part({left, top, out.width, out.height}, result);
  State& state = *state_;
  if (state.needed_columns_only != needed_columns_only) state.horizontal.forget();
  state.needed_columns_only = needed_columns_only;
  state.horizontal.prepare({source.width, box.left, box.right, result.width, interpolation, left, out.width},
                           source.width, needed_columns_only);
  state.vertical.prepare({source.height, box.top, box.bottom, result.height, interpolation, top, out.height});
  state.out = out;
  state.row_begin = needed_columns_only ? first_column() : 0;
  state.row_end = needed_columns_only ? end_column() : source.width;
  state.is_nearest = interpolation == Interpolation::nearest;
  state.next_row = first_row();
  state.next_result = 0;
  if (!state.copies_only()) {
    // The rows that an unfinished row of the result needs, and those that are made before it is looked at again.
    state.ring.prepare(std::size_t{state.vertical.axis.max_count} + resampling::kMaxRows - 1,
                       state.horizontal.pass.row_bytes());
  }
}

std::uint32_t Resizer::first_row() const noexcept {
  return state_->vertical.axis.begin();
}
std::uint32_t Resizer::end_row() const noexcept {
  return state_->vertical.axis.end();
}
std::uint32_t Resizer::first_column() const noexcept {
  return state_->horizontal.axis.begin();
}
std::uint32_t Resizer::end_column() const noexcept {
  return state_->horizontal.axis.end();
}
bool Resizer::done() const noexcept {
  return state_->next_result == state_->out.height;
}

void Resizer::take(std::uint32_t y, ConstRgbView rows) {
  State& state = *state_;
  const bool leaves_gap = y > state.next_row && state.next_row < end_row();
  const std::uint32_t row_width = state.row_end - state.row_begin;
  if (rows.width != row_width || leaves_gap) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("rows of {} pixels from row {} on, but rows of {} pixels are due from row {} on",
                            rows.width, y, row_width, state.next_row));
  }
  const auto end = static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{y} + rows.height, end_row()));
  if (end <= state.next_row) return;
  if (state.copies_only()) {
    state.copy(y, end, rows);
  } else {
    state.filter(y, end, rows);
  }
}

void resize(ConstRgbView source, const Box& box, Interpolation interpolation, RgbView out, Resizer& resizer) {
  resizer.start({.source = {source.width, source.height}, .box = box, .interpolation = interpolation}, out);
  const std::uint32_t y = resizer.first_row();
  resizer.take(y, {source.row(y), source.width, resizer.end_row() - y, source.stride});
}

}  // namespace imgpack
