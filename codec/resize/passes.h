// The two passes of a filtered resize, each made ready from an axis: weights in the layout of the row kernels, and what
// keeps them from reading outside a row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/resize/resample_axis.h"
#include "codec/resize/row_kernels.h"
#include "mmap/byte_buffer.h"

namespace imgpack::resampling {

/// Rows of 3-byte pixels become shorter or longer. Not thread-safe.
class HorizontalPass {
 public:
  /// Rows begin with column axis.begin() and end before axis.end() if `needed_only`, else they hold `source_width`
  /// columns. Throws std::bad_alloc.
  void prepare(const ResampleAxis& axis, std::uint32_t source_width, bool needed_only);
  /// What a result row needs, which is more than its pixels.
  std::size_t row_bytes() const noexcept { return std::size_t{padded_size_} * 3 + kRowSlack; }
  /// Makes up to kMaxRows rows, as many results as sources.
  void run(std::span<const std::uint8_t* const> sources, std::span<std::uint8_t* const> results);

 private:
  void run_copying(std::span<const std::uint8_t* const> sources, std::span<std::uint8_t* const> results) const;

  bool is_copy_ = false;
  std::uint32_t size_ = 0;
  std::uint32_t padded_size_ = 0;  ///< a multiple of kPixelGroup
  std::vector<std::uint32_t> offsets_;
  std::vector<WeightPair> weights_;
  std::uint32_t pairs_ = 0;
  /// Pixels from safe_end_ on may read behind their row, so they read a zero-padded copy of it from tail_begin_ on.
  std::uint32_t safe_end_ = 0;
  std::uint32_t tail_begin_ = 0;
  std::uint32_t tail_bytes_ = 0;
  std::size_t tail_stride_ = 0;
  std::vector<std::uint8_t> tails_;
};

/// The rows between the two passes: row y lies in slot y % rows.
class RowRing {
 public:
  /// Throws std::bad_alloc. The content is lost.
  void prepare(std::size_t rows, std::size_t row_bytes);
  std::size_t rows() const noexcept { return rows_; }
  std::uint8_t* slot(std::size_t index) noexcept {
    return reinterpret_cast<std::uint8_t*>(memory_.data()) + index * stride_;
  }
  std::uint8_t* row(std::uint32_t y) noexcept { return slot(y % rows_); }

 private:
  std::size_t rows_ = 1;
  std::size_t stride_ = 0;
  ByteBuffer memory_;
};

/// Weighted sums of whole rows. Not thread-safe.
class VerticalPass {
 public:
  /// Throws std::bad_alloc.
  void prepare(const ResampleAxis& axis);
  /// Makes `bytes` bytes of row `i` of the result. REQUIRES: `axis` is that of prepare(), and `ring` holds the rows
  /// that it names for `i`.
  void run(const ResampleAxis& axis, std::uint32_t i, RowRing& ring, std::size_t bytes, std::uint8_t* result);

 private:
  bool is_copy_ = false;
  std::vector<WeightPair> weights_;
  std::vector<const std::uint8_t*> rows_;
};

}  // namespace imgpack::resampling
