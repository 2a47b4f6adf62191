// Rows of one component's samples while an image is decoded: the last two rows of MCUs, as a ring.
#pragma once

#include <cstdint>
#include <cstring>

#include "codec/jpeg/kernels.h"
#include "mmap/byte_buffer.h"

namespace imgpack::jpeg {

class SampleRows {
 public:
  /// Samples [first, first + width) of each row are kept, `rows` rows at a time. The content is unspecified, but
  /// readable for kRowSlack bytes on either side. Throws std::bad_alloc.
  void reset(std::uint32_t first, std::uint32_t width, std::uint32_t rows) {
    first_ = first;
    width_ = width;
    rows_ = rows;
    stride_ = (kRowSlack + width + kRowSlack + 63) / 64 * 64;
    const std::size_t size = stride_ * rows;
    if (size > memory_.size()) {
      std::memset(memory_.resize(size).data(), 0, size);  // so that what lies beside is not random
    }
  }
  /// Sample x of row y. REQUIRES: first() <= x <= end(). The sample before first() is there too.
  std::uint8_t* at(std::uint32_t x, std::uint32_t y) noexcept {
    return reinterpret_cast<std::uint8_t*>(memory_.data()) + (y % rows_) * stride_ + kRowSlack + (x - first_);
  }
  std::uint32_t first() const noexcept { return first_; }
  std::uint32_t end() const noexcept { return first_ + width_; }
  std::size_t stride() const noexcept { return stride_; }

 private:
  ByteBuffer memory_;
  std::uint32_t first_ = 0;
  std::uint32_t width_ = 0;
  std::uint32_t rows_ = 1;
  std::size_t stride_ = 0;
};

}  // namespace imgpack::jpeg
