// The order in which a block's coefficients are coded. For host and device.
#pragma once

#include <cstdint>

#include "codec/host_device.h"
#include "codec/jpeg/frame.h"

namespace imgpack::jpeg {

/// Position in a block, row by row, of each coefficient in zigzag order: T.81 figure A.6.
struct ZigzagOrder {
  std::uint8_t natural[kBlockCoefficients];
};
IMGPACK_HD constexpr ZigzagOrder zigzag_order() {
  return {{0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
           41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
           30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63}};
}

}  // namespace imgpack::jpeg
