#include "codec/jpeg/kernels.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/jpeg/kernels.cc"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
#include "hwy/highway.h"

#include "codec/jpeg/idct.h"
#include "codec/jpeg/plain_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace imgpack::jpeg {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void InverseDctPair(const std::int16_t* coefficients, const BlockTarget (&targets)[kPair]) {
  plain::inverse_dct_pair(coefficients, targets);
}
void UpsampleRowH2(const std::uint8_t* in, std::size_t count, std::uint8_t* out) {
  plain::upsample_row_h2(in, count, out);
}
void UpsampleRowV2(const std::uint8_t* near, const std::uint8_t* far, bool upper, std::size_t count,
                   std::uint8_t* out) {
  plain::upsample_row_v2(near, far, upper, count, out);
}
void UpsampleRowH2V2(const std::uint8_t* near, const std::uint8_t* far, std::size_t count, std::uint8_t* out) {
  plain::upsample_row_h2v2(near, far, count, out);
}
void YccRowToRgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, std::size_t count,
                 std::uint8_t* rgb) {
  plain::ycc_row_to_rgb(y, cb, cr, count, rgb);
}
void InterleaveRow(const std::uint8_t* r, const std::uint8_t* g, const std::uint8_t* b, std::size_t count,
                   std::uint8_t* rgb) {
  plain::interleave_row(r, g, b, count, rgb);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

// One 128-bit part of a vector holds a row (or column) of one block.
#if HWY_ARCH_X86 && HWY_MAX_BYTES >= 32
using D16 = hn::FixedTag<std::int16_t, 16>;
#else
using D16 = hn::FixedTag<std::int16_t, 8>;
#endif
using D32 = hn::RepartitionToWide<D16>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;
constexpr std::size_t kBlocksAtOnce = hn::MaxLanes(D16()) / 8;

/// a[2i] * b[2i] + a[2i + 1] * b[2i + 1]
template <class V>
HWY_INLINE auto multiply_add_pairs(V a, V b) {
  const hn::RepartitionToWide<hn::DFromV<V> > d32;
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
  auto unused = hn::Zero(d32);
  return hn::ReorderWidenMulAccumulate(d32, a, b, hn::Zero(d32), unused);
#else
  const auto a32 = hn::BitCast(d32, a);
  const auto b32 = hn::BitCast(d32, b);
  const auto low = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(a32)), hn::ShiftRight<16>(hn::ShiftLeft<16>(b32)));
  return hn::Add(low, hn::Mul(hn::ShiftRight<16>(a32), hn::ShiftRight<16>(b32)));
#endif
}

/// The lower and upper four columns of each block, in 32 bits.
struct Wide {
  V32 lower;
  V32 upper;
};

HWY_INLINE Wide operator+(Wide a, Wide b) {
  return {hn::Add(a.lower, b.lower), hn::Add(a.upper, b.upper)};
}
HWY_INLINE Wide operator-(Wide a, Wide b) {
  return {hn::Sub(a.lower, b.lower), hn::Sub(a.upper, b.upper)};
}

HWY_INLINE V16 factors(const std::int16_t (&pair)[2]) {
  const std::uint32_t both = static_cast<std::uint16_t>(pair[0]) | static_cast<std::uint32_t>(pair[1]) << 16;
  return hn::BitCast(D16(), hn::Set(D32(), static_cast<std::int32_t>(both)));
}

/// Two rows, zipped so that their elements make pairs.
struct Zipped {
  HWY_INLINE Zipped(V16 a, V16 b) : lower(hn::InterleaveLower(D16(), a, b)), upper(hn::InterleaveUpper(D16(), a, b)) {}
  HWY_INLINE Wide dot(const std::int16_t (&pair)[2]) const {
    const V16 f = factors(pair);
    return {multiply_add_pairs(lower, f), multiply_add_pairs(upper, f)};
  }
  V16 lower;
  V16 upper;
};

HWY_INLINE Wide scaled(V16 value) {
  const V16 zero = hn::Zero(D16());
  const D32 d32;
  // value << 16, then arithmetically down to value << kConstBits.
  return {hn::ShiftRight<16 - idct::kConstBits>(hn::BitCast(d32, hn::InterleaveLower(D16(), zero, value))),
          hn::ShiftRight<16 - idct::kConstBits>(hn::BitCast(d32, hn::InterleaveUpper(D16(), zero, value)))};
}

template <int kShift>
HWY_INLINE V16 descaled(Wide value) {
  const V32 half = hn::Set(D32(), 1 << (kShift - 1));
  return hn::ReorderDemote2To(D16(), hn::ShiftRight<kShift>(hn::Add(value.lower, half)),
                              hn::ShiftRight<kShift>(hn::Add(value.upper, half)));
}

/// idct::transform() of eight vectors, lane by lane.
template <int kShift>
HWY_INLINE void transform(V16 (&v)[8]) {
  const Zipped v26(v[2], v[6]);
  const Wide even2 = v26.dot(idct::kEven2);
  const Wide even3 = v26.dot(idct::kEven3);
  const Wide even0 = scaled(hn::Add(v[0], v[4]));
  const Wide even1 = scaled(hn::Sub(v[0], v[4]));
  const Zipped sums(hn::Add(v[7], v[3]), hn::Add(v[5], v[1]));
  const Wide z3 = sums.dot(idct::kOddZ3);
  const Wide z4 = sums.dot(idct::kOddZ4);
  const Zipped v71(v[7], v[1]);
  const Zipped v53(v[5], v[3]);
  const Wide odd0 = v71.dot(idct::kOdd0) + z3;
  const Wide odd1 = v53.dot(idct::kOdd1) + z4;
  const Wide odd2 = v53.dot(idct::kOdd2) + z3;
  const Wide odd3 = v71.dot(idct::kOdd3) + z4;
  const Wide even_03 = even0 + even3;
  const Wide even_12 = even1 + even2;
  const Wide even_21 = even1 - even2;
  const Wide even_30 = even0 - even3;
  v[0] = descaled<kShift>(even_03 + odd3);
  v[7] = descaled<kShift>(even_03 - odd3);
  v[1] = descaled<kShift>(even_12 + odd2);
  v[6] = descaled<kShift>(even_12 - odd2);
  v[2] = descaled<kShift>(even_21 + odd1);
  v[5] = descaled<kShift>(even_21 - odd1);
  v[3] = descaled<kShift>(even_30 + odd0);
  v[4] = descaled<kShift>(even_30 - odd0);
}

/// Each block's 8x8 transposed.
HWY_INLINE void transpose(V16 (&v)[8]) {
  const D16 d;
  V16 a[8];
  for (std::size_t i = 0; i < 4; ++i) {
    a[2 * i] = hn::InterleaveLower(d, v[i], v[i + 4]);
    a[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + 4]);
  }
  V16 b[8];
  for (std::size_t i = 0; i < 4; ++i) {
    b[2 * i] = hn::InterleaveLower(d, a[i], a[i + 4]);
    b[2 * i + 1] = hn::InterleaveUpper(d, a[i], a[i + 4]);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    v[2 * i] = hn::InterleaveLower(d, b[i], b[i + 4]);
    v[2 * i + 1] = hn::InterleaveUpper(d, b[i], b[i + 4]);
  }
}

HWY_INLINE void first_pass(V16 (&v)[8]) {
  const D16 d;
  // Blocks with nothing below their first row wrap where others saturate, as in libjpeg-turbo.
  V16 below = v[1];
  for (std::size_t y = 2; y < 8; ++y) below = hn::Or(below, v[y]);
  const hn::RepartitionToWide<D32> d64;
  const auto below64 = hn::BitCast(d64, below);
  const auto both_halves = hn::Or(below64, hn::Shuffle01(below64));
  const auto only_first_row = hn::MaskFromVec(hn::BitCast(d, hn::VecFromMask(d64, hn::Eq(both_halves, hn::Zero(d64)))));
  const V16 shifted = hn::ShiftLeft<idct::kPass1Bits>(v[0]);
  transform<idct::kPass1Shift>(v);
  for (V16& row : v) row = hn::IfThenElse(only_first_row, shifted, row);
}

void InverseDctPair(const std::int16_t* HWY_RESTRICT coefficients, const BlockTarget (&targets)[kPair]) {
  const D16 d;
  const hn::Rebind<std::int8_t, D16> d8;
  for (std::size_t block = 0; block < kPair; block += kBlocksAtOnce) {
    V16 v[8];
    for (std::size_t y = 0; y < 8; ++y) v[y] = hn::Load(d, coefficients + y * kPairStride + block * 8);
    first_pass(v);
    transpose(v);
    transform<idct::kPass2Shift>(v);
    transpose(v);
    for (std::size_t y = 0; y < 8; ++y) {
      HWY_ALIGN std::int8_t samples[kBlocksAtOnce * 8];
      hn::Store(hn::Xor(hn::DemoteTo(d8, v[y]), hn::Set(d8, std::int8_t{-128})), d8, samples);
      for (std::size_t b = 0; b < kBlocksAtOnce; ++b) {
        const BlockTarget& target = targets[block + b];
        std::memcpy(target.out + y * target.stride, samples + b * 8, 8);
      }
    }
  }
}

using DU16 = hn::ScalableTag<std::uint16_t>;
using DU8 = hn::Rebind<std::uint8_t, DU16>;

HWY_INLINE hn::Vec<DU16> load_wide(const std::uint8_t* at) {
  return hn::PromoteTo(DU16(), hn::LoadU(DU8(), at));
}
HWY_INLINE hn::Vec<DU16> thrice(hn::Vec<DU16> v) {
  return hn::Add(v, hn::Add(v, v));
}
/// Bytes even[0], odd[0], even[1], odd[1], ...
HWY_INLINE void store_alternating(hn::Vec<DU16> even, hn::Vec<DU16> odd, std::uint8_t* out) {
  hn::StoreU(hn::BitCast(hn::Repartition<std::uint8_t, DU16>(), hn::Or(even, hn::ShiftLeft<8>(odd))),
             hn::Repartition<std::uint8_t, DU16>(), out);
}

void UpsampleRowH2(const std::uint8_t* in, std::size_t count, std::uint8_t* HWY_RESTRICT out) {
  const DU16 d;
  const auto one = hn::Set(d, std::uint16_t{1});
  const auto two = hn::Set(d, std::uint16_t{2});
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto near = thrice(load_wide(in + i));
    const auto left = hn::ShiftRight<2>(hn::Add(near, hn::Add(load_wide(in + i - 1), one)));
    const auto right = hn::ShiftRight<2>(hn::Add(near, hn::Add(load_wide(in + i + 1), two)));
    store_alternating(left, right, out + 2 * i);
  }
}

void UpsampleRowV2(const std::uint8_t* near, const std::uint8_t* far, bool upper, std::size_t count,
                   std::uint8_t* HWY_RESTRICT out) {
  const DU16 d;
  const auto bias = hn::Set(d, static_cast<std::uint16_t>(upper ? 1 : 2));
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto sum = hn::Add(thrice(load_wide(near + i)), hn::Add(load_wide(far + i), bias));
    hn::StoreU(hn::DemoteTo(DU8(), hn::BitCast(hn::RebindToSigned<DU16>(), hn::ShiftRight<2>(sum))), DU8(), out + i);
  }
}

void UpsampleRowH2V2(const std::uint8_t* near, const std::uint8_t* far, std::size_t count,
                     std::uint8_t* HWY_RESTRICT out) {
  const DU16 d;
  const auto eight = hn::Set(d, std::uint16_t{8});
  const auto seven = hn::Set(d, std::uint16_t{7});
  const auto column = [](const std::uint8_t* near_sample, const std::uint8_t* far_sample)
                          HWY_ATTR { return hn::Add(thrice(load_wide(near_sample)), load_wide(far_sample)); };
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto here = thrice(column(near + i, far + i));
    const auto left = hn::ShiftRight<4>(hn::Add(here, hn::Add(column(near + i - 1, far + i - 1), eight)));
    const auto right = hn::ShiftRight<4>(hn::Add(here, hn::Add(column(near + i + 1, far + i + 1), seven)));
    store_alternating(left, right, out + 2 * i);
  }
}

using DI16 = hn::ScalableTag<std::int16_t>;
using DB8 = hn::Rebind<std::uint8_t, DI16>;

/// Stores `lanes` pixels, of which `count` are wanted.
HWY_INLINE void store_rgb(hn::Vec<DB8> r, hn::Vec<DB8> g, hn::Vec<DB8> b, std::size_t count, std::uint8_t* rgb) {
  const DB8 d;
  if (count >= hn::Lanes(d)) {
    hn::StoreInterleaved3(r, g, b, d, rgb);
  } else {
    HWY_ALIGN std::uint8_t tail[3 * hn::MaxLanes(DB8())];
    hn::StoreInterleaved3(r, g, b, d, tail);
    std::memcpy(rgb, tail, 3 * count);
  }
}

/// (value * factor + 2^15) >> 16, exact for a value of 9 bits: the doubled value's product loses only what rounding
/// may.
HWY_INLINE hn::Vec<DI16> multiply_rounded(hn::Vec<DI16> value, std::int16_t factor) {
  const DI16 d;
  const auto doubled = hn::MulHigh(hn::Add(value, value), hn::Set(d, factor));
  return hn::ShiftRight<1>(hn::Add(doubled, hn::Set(d, std::int16_t{1})));
}

/// (-22554 b - 46802 r + 2^15) >> 16, plus r: the second factor is -65536 + 18734.
HWY_INLINE hn::Vec<DI16> green_part(hn::Vec<DI16> b, hn::Vec<DI16> r) {
  const DI16 d;
  const hn::RepartitionToWide<DI16> d32;
  constexpr std::uint32_t kFactors = static_cast<std::uint16_t>(-22554) | std::uint32_t{18734} << 16;
  const auto factors = hn::BitCast(d, hn::Set(d32, static_cast<std::int32_t>(kFactors)));
  const auto half = hn::Set(d32, 1 << 15);
  const auto lower = hn::Add(multiply_add_pairs(hn::InterleaveLower(d, b, r), factors), half);
  const auto upper = hn::Add(multiply_add_pairs(hn::InterleaveUpper(d, b, r), factors), half);
  return hn::ReorderDemote2To(d, hn::ShiftRight<16>(lower), hn::ShiftRight<16>(upper));
}

void YccRowToRgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, std::size_t count,
                 std::uint8_t* rgb) {
  const DI16 d;
  const DB8 d8;
  const auto center = hn::Set(d, std::int16_t{128});
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto luma = hn::PromoteTo(d, hn::LoadU(d8, y + i));
    const auto b = hn::Sub(hn::PromoteTo(d, hn::LoadU(d8, cb + i)), center);
    const auto r = hn::Sub(hn::PromoteTo(d, hn::LoadU(d8, cr + i)), center);
    // Factors beyond 16 bits are split into a whole part and a rest: 1.402 = 1 + 0.402, 1.772 = 2 - 0.228.
    const auto red = hn::Add(luma, hn::Add(r, multiply_rounded(r, 91881 - 65536)));
    const auto blue = hn::Add(luma, hn::Add(hn::Add(b, b), multiply_rounded(b, 116130 - 131072)));
    const auto green = hn::Sub(hn::Add(luma, green_part(b, r)), r);
    store_rgb(hn::DemoteTo(d8, red), hn::DemoteTo(d8, green), hn::DemoteTo(d8, blue), count - i, rgb + 3 * i);
  }
}

void InterleaveRow(const std::uint8_t* r, const std::uint8_t* g, const std::uint8_t* b, std::size_t count,
                   std::uint8_t* rgb) {
  const DB8 d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    store_rgb(hn::LoadU(d, r + i), hn::LoadU(d, g + i), hn::LoadU(d, b + i), count - i, rgb + 3 * i);
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace imgpack::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpack::jpeg {

HWY_EXPORT(InverseDctPair);
HWY_EXPORT(UpsampleRowH2);
HWY_EXPORT(UpsampleRowV2);
HWY_EXPORT(UpsampleRowH2V2);
HWY_EXPORT(YccRowToRgb);
HWY_EXPORT(InterleaveRow);

void inverse_dct_pair(const std::int16_t* coefficients, const BlockTarget (&targets)[kPair]) {
  HWY_DYNAMIC_DISPATCH(InverseDctPair)(coefficients, targets);
}

void upsample_row_h2(const std::uint8_t* in, std::size_t count, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(UpsampleRowH2)(in, count, out);
}

void upsample_row_v2(const std::uint8_t* near, const std::uint8_t* far, bool upper, std::size_t count,
                     std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(UpsampleRowV2)(near, far, upper, count, out);
}

void upsample_row_h2v2(const std::uint8_t* near, const std::uint8_t* far, std::size_t count, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(UpsampleRowH2V2)(near, far, count, out);
}

void replicate_row(const std::uint8_t* in, std::size_t times, std::size_t count, std::uint8_t* out) {
  for (std::size_t i = 0; i < count; ++i, out += times) std::memset(out, in[i], times);
}

void ycc_row_to_rgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, std::size_t count,
                    std::uint8_t* rgb) {
  HWY_DYNAMIC_DISPATCH(YccRowToRgb)(y, cb, cr, count, rgb);
}

void interleave_row(const std::uint8_t* r, const std::uint8_t* g, const std::uint8_t* b, std::size_t count,
                    std::uint8_t* rgb) {
  HWY_DYNAMIC_DISPATCH(InterleaveRow)(r, g, b, count, rgb);
}

}  // namespace imgpack::jpeg
#endif
