// The inverse DCT of one block, as libjpeg-turbo's "accurate integer" one computes it. For host and device; the host
// has a faster form of the same in kernels.cc.
//
// Algorithm: Loeffler, Ligtenberg and Moschytz 1989, with the constants and roundings of libjpeg's jidctint.c. Where
// coefficients of damaged or contrived files overflow 16 bits, it wraps and saturates as libjpeg-turbo's x86 SIMD code
// does; for the exception see vanishing.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/host_device.h"
#include "codec/jpeg/frame.h"

namespace imgpack::jpeg {

/// Constants of 13 fractional bits, combined so that each product sum has two factors.
namespace idct {
inline constexpr int kConstBits = 13;
inline constexpr int kPass1Bits = 2;
inline constexpr int kPass1Shift = kConstBits - kPass1Bits;
inline constexpr int kPass2Shift = kConstBits + kPass1Bits + 3;
inline constexpr std::int16_t k0_298 = 2446, k0_390 = 3196, k0_541 = 4433, k0_765 = 6270, k0_899 = 7373, k1_175 = 9633,
                              k1_501 = 12299, k1_847 = 15137, k1_961 = 16069, k2_053 = 16819, k2_562 = 20995,
                              k3_072 = 25172;
/// {factor of the first, factor of the second}
inline constexpr std::int16_t kEven2[2] = {k0_541, k0_541 - k1_847};  // of inputs 2 and 6
inline constexpr std::int16_t kEven3[2] = {k0_541 + k0_765, k0_541};
inline constexpr std::int16_t kOddZ3[2] = {k1_175 - k1_961, k1_175};  // of 7 + 3 and 5 + 1
inline constexpr std::int16_t kOddZ4[2] = {k1_175, k1_175 - k0_390};
inline constexpr std::int16_t kOdd0[2] = {k0_298 - k0_899, -k0_899};  // of 7 and 1
inline constexpr std::int16_t kOdd3[2] = {-k0_899, k1_501 - k0_899};
inline constexpr std::int16_t kOdd1[2] = {k2_053 - k2_562, -k2_562};  // of 5 and 3
inline constexpr std::int16_t kOdd2[2] = {-k2_562, k3_072 - k2_562};

IMGPACK_HD constexpr std::int16_t wrap(std::int32_t value) {
  return static_cast<std::int16_t>(value);
}
IMGPACK_HD constexpr std::int16_t saturate(std::int32_t value) {
  return static_cast<std::int16_t>(value < -32768 ? -32768 : value > 32767 ? 32767 : value);
}
/// The factors are a template's because device code can't read a constexpr array but as a constant.
template <const std::int16_t (&kFactors)[2]>
IMGPACK_HD constexpr std::uint32_t dot(std::int16_t a, std::int16_t b) {
  constexpr std::int32_t kFirst = kFactors[0];
  constexpr std::int32_t kSecond = kFactors[1];
  return static_cast<std::uint32_t>(kFirst * a) + static_cast<std::uint32_t>(kSecond * b);
}
/// Rounded, shifted down and saturated to 16 bits.
template <int kShift>
IMGPACK_HD constexpr std::int16_t descale(std::uint32_t value) {
  return saturate(static_cast<std::int32_t>(value + (1u << (kShift - 1))) >> kShift);
}
/// Sums are taken modulo 2^32.
template <int kShift>
IMGPACK_HD inline void transform(const std::int16_t (&in)[8], std::int16_t (&out)[8]) {
  const std::uint32_t even2 = dot<kEven2>(in[2], in[6]);
  const std::uint32_t even3 = dot<kEven3>(in[2], in[6]);
  const std::uint32_t even0 = static_cast<std::uint32_t>(wrap(in[0] + in[4])) << kConstBits;
  const std::uint32_t even1 = static_cast<std::uint32_t>(wrap(in[0] - in[4])) << kConstBits;
  const std::int16_t sum73 = wrap(in[7] + in[3]);
  const std::int16_t sum51 = wrap(in[5] + in[1]);
  const std::uint32_t z3 = dot<kOddZ3>(sum73, sum51);
  const std::uint32_t z4 = dot<kOddZ4>(sum73, sum51);
  const std::uint32_t odd0 = dot<kOdd0>(in[7], in[1]) + z3;
  const std::uint32_t odd1 = dot<kOdd1>(in[5], in[3]) + z4;
  const std::uint32_t odd2 = dot<kOdd2>(in[5], in[3]) + z3;
  const std::uint32_t odd3 = dot<kOdd3>(in[7], in[1]) + z4;
  out[0] = descale<kShift>(even0 + even3 + odd3);
  out[7] = descale<kShift>(even0 + even3 - odd3);
  out[1] = descale<kShift>(even1 + even2 + odd2);
  out[6] = descale<kShift>(even1 + even2 - odd2);
  out[2] = descale<kShift>(even1 - even2 + odd1);
  out[5] = descale<kShift>(even1 - even2 - odd1);
  out[3] = descale<kShift>(even0 - even3 + odd0);
  out[4] = descale<kShift>(even0 - even3 - odd0);
}

IMGPACK_HD constexpr std::uint8_t to_sample(std::int16_t value) {
  return static_cast<std::uint8_t>((value < -128 ? -128 : value > 127 ? 127 : value) + 128);
}
}  // namespace idct

/// What a block is whose only coefficient is `dc` (dequantised): all samples are the same.
IMGPACK_HD constexpr std::uint8_t idct_dc_only(std::int16_t dc) {
  const std::int16_t column = idct::wrap(static_cast<std::int32_t>(dc) * (1 << idct::kPass1Bits));
  return idct::to_sample(idct::descale<idct::kPass2Shift>(static_cast<std::uint32_t>(column) << idct::kConstBits));
}

/// `coefficients`: dequantised, row by row, `stride` apart. `out`: 8 rows of 8 samples, out_stride bytes apart.
IMGPACK_HD inline void inverse_dct(const std::int16_t* coefficients, std::size_t stride, std::uint8_t* out,
                                   std::size_t out_stride) {
  std::int16_t work[8][8];  // by column
  bool only_first_row = true;
  for (std::size_t y = 1; y < 8; ++y) {
    for (std::size_t x = 0; x < 8; ++x) only_first_row = only_first_row && coefficients[y * stride + x] == 0;
  }
  for (std::size_t x = 0; x < 8; ++x) {
    std::int16_t column[8];
    for (std::size_t y = 0; y < 8; ++y) column[y] = coefficients[y * stride + x];
    if (only_first_row) {
      for (std::size_t y = 0; y < 8; ++y) work[x][y] = idct::wrap(column[0] * (1 << idct::kPass1Bits));
    } else {
      idct::transform<idct::kPass1Shift>(column, work[x]);
    }
  }
  for (std::size_t y = 0; y < 8; ++y) {
    std::int16_t row[8];
    std::int16_t samples[8];
    for (std::size_t x = 0; x < 8; ++x) row[x] = work[x][y];
    idct::transform<idct::kPass2Shift>(row, samples);
    for (std::size_t x = 0; x < 8; ++x) out[y * out_stride + x] = idct::to_sample(samples[x]);
  }
}

}  // namespace imgpack::jpeg
