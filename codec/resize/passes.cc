#include "codec/resize/passes.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace imgpack::resampling {

void HorizontalPass::prepare(const ResampleAxis& axis, std::uint32_t source_width, bool needed_only) {
  const std::uint32_t row_begin = needed_only ? axis.begin() : 0;
  const std::uint32_t row_width = needed_only ? axis.end() - row_begin : source_width;
  is_copy_ = axis.is_copy;
  size_ = axis.size();
  padded_size_ = (size_ + kPixelGroup - 1) / kPixelGroup * kPixelGroup;
  offsets_.resize(padded_size_);
  for (std::uint32_t i = 0; i < padded_size_; ++i) {
    offsets_[i] = (axis.first[std::min(i, size_ - 1)] - row_begin) * 3;
  }
  if (is_copy_) return;

  pairs_ = axis.stride / 2;
  pack_weights(axis.weights, weights_);
  weights_.resize(std::size_t{padded_size_} * pairs_);

  const std::uint32_t row_end = row_width * 3;
  const std::size_t window = pairs_ * kPairBytes + kReadSlack;
  safe_end_ = padded_size_;
  while (safe_end_ > 0 && offsets_[safe_end_ - 1] + window > row_end) safe_end_ -= kPixelGroup;
  tail_begin_ = safe_end_ == padded_size_ ? row_end : offsets_[safe_end_];
  tail_bytes_ = row_end - tail_begin_;
  tail_stride_ = tail_bytes_ + window;
  tails_.assign(tail_stride_ * kMaxRows, 0);
}

void HorizontalPass::run(std::span<const std::uint8_t* const> sources, std::span<std::uint8_t* const> results) {
  if (is_copy_) return run_copying(sources, results);
  const PixelTaps taps = {offsets_.data(), weights_.data(), pairs_};
  weigh_pixels(taps, 0, safe_end_, sources, 0, results);
  if (safe_end_ == padded_size_) return;
  std::array<const std::uint8_t*, kMaxRows> tails;
  for (std::size_t row = 0; row < sources.size(); ++row) {
    std::uint8_t* const tail = tails_.data() + row * tail_stride_;
    std::memcpy(tail, sources[row] + tail_begin_, tail_bytes_);
    tails[row] = tail;
  }
  weigh_pixels(taps, safe_end_, padded_size_, std::span(tails).first(sources.size()), tail_begin_, results);
}

void HorizontalPass::run_copying(std::span<const std::uint8_t* const> sources,
                                 std::span<std::uint8_t* const> results) const {
  for (std::size_t row = 0; row < sources.size(); ++row) {
    std::memcpy(results[row], sources[row] + offsets_[0], std::size_t{size_} * 3);
  }
}

void RowRing::prepare(std::size_t rows, std::size_t row_bytes) {
  constexpr std::size_t kCacheLine = 64;
  rows_ = rows;
  stride_ = (row_bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
  memory_.resize(rows_ * stride_);
}

void VerticalPass::prepare(const ResampleAxis& axis) {
  is_copy_ = axis.is_copy;
  pack_weights(axis.weights, weights_);
  rows_.resize(axis.stride);
}

void VerticalPass::run(const ResampleAxis& axis, std::uint32_t i, RowRing& ring, std::size_t bytes,
                       std::uint8_t* result) {
  if (is_copy_) {
    std::memcpy(result, ring.row(axis.first[i]), bytes);
    return;
  }
  const std::uint32_t count = axis.count[i];
  std::size_t slot = axis.first[i] % ring.rows();
  for (std::uint32_t t = 0; t < count; ++t) {
    rows_[t] = ring.slot(slot);
    if (++slot == ring.rows()) slot = 0;
  }
  const std::uint32_t pairs = (count + 1) / 2;
  if (count % 2 != 0) rows_[count] = rows_[count - 1];  // for the missing half of the last pair, whose weight is 0
  weigh_rows(std::span(weights_).subspan(std::size_t{i} * (axis.stride / 2), pairs), rows_.data(), bytes, result);
}

}  // namespace imgpack::resampling
