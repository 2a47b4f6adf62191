// Takes decoded blocks' coefficients to samples, two blocks at a time.
#pragma once

#include <cstdint>
#include <cstring>

#include "codec/jpeg/idct.h"
#include "codec/jpeg/kernels.h"

namespace imgpack::jpeg {

/// Not thread-safe. flush() before the samples are looked at.
class BlockPairTransform {
 public:
  /// Memory for the next block's coefficients, kPairStride apart, all zeros.
  std::int16_t* block() { return coefficients_ + 8 * waiting_; }
  /// The block in block() is complete; `last` is the number of its last coefficient.
  void put(std::uint32_t last, const BlockTarget& target) {
    if (last == 0) {
      std::int16_t* dc = block();
      fill(idct_dc_only(*dc), target);
      *dc = 0;
      return;
    }
    targets_[waiting_++] = target;
    if (waiting_ == kPair) transform();
  }
  /// The block in block() is no good.
  void drop() {
    for (std::size_t y = 0; y < 8; ++y) std::memset(block() + y * kPairStride, 0, 8 * sizeof(std::int16_t));
  }
  void flush() {
    if (waiting_ == 0) return;
    targets_[1] = {nowhere_, 8};
    transform();
  }
  static void fill(std::uint8_t sample, const BlockTarget& target) {
    const std::uint64_t row = 0x0101010101010101u * sample;
    for (std::size_t y = 0; y < 8; ++y) std::memcpy(target.out + y * target.stride, &row, sizeof(row));
  }

 private:
  void transform() {
    inverse_dct_pair(coefficients_, targets_);
    std::memset(coefficients_, 0, sizeof(coefficients_));
    waiting_ = 0;
  }

  alignas(64) std::int16_t coefficients_[8 * kPairStride] = {};
  BlockTarget targets_[kPair];
  std::uint32_t waiting_ = 0;
  std::uint8_t nowhere_[64];
};

}  // namespace imgpack::jpeg
