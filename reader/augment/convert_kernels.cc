// This file is compiled once for each target that Highway knows on this architecture, and without contraction of
// floating-point operations (reader/CMakeLists.txt): where a multiply-add is fused, it says so.
#include "reader/augment/convert_kernels.h"

#include <cstring>

#include <hwy/cache_control.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reader/augment/convert_kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "reader/augment/plain_convert.h"

HWY_BEFORE_NAMESPACE();
namespace imgpack {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void StreamRow(const std::uint8_t* values, std::size_t count, std::uint8_t* out) {
  std::memcpy(out, values, count);
}
void FlipRow(const std::uint8_t* rgb, std::size_t width, bool, std::uint8_t* out) {
  plain::flip_row(rgb, width, out);
}
void SplitRow(const std::uint8_t* rgb, std::size_t width, bool flip, std::uint8_t* r, std::uint8_t* g,
              std::uint8_t* b) {
  plain::split_row(rgb, width, flip, r, g, b);
}
void ScaleValues(const std::uint8_t* values, std::size_t count, std::size_t channel, const FastScale&,
                 const ValueTables& tables, DType dtype, bool, std::byte* out) {
  look_up_values(values, count, channel, tables, dtype, out);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using DBlock = hn::FixedTag<std::uint8_t, 16>;

template <bool kStream, class D, class T>
HWY_INLINE void store(hn::Vec<D> v, D d, T* out) {
  // Less than 16 bytes can't be streamed.
  if constexpr (kStream && hn::MaxLanes(D()) * sizeof(T) >= 16) {
    hn::Stream(v, d, out);
  } else {
    hn::StoreU(v, d, out);
  }
}

void StreamRow(const std::uint8_t* values, std::size_t count, std::uint8_t* HWY_RESTRICT out) {
  const hn::CappedTag<std::uint8_t, kStreamAlignment> d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) hn::Stream(hn::LoadU(d, values + i), d, out + i);
}

// 16 packed pixels are 3 blocks of 16 bytes. From right to left, block `to` is made of bytes of block `from`, or of
// none where the other blocks have them.
struct ReversedPixels {
  alignas(16) std::uint8_t tables[3][3][16];
};
constexpr ReversedPixels make_reversed_pixels() {
  ReversedPixels reversed{};
  for (std::size_t to = 0; to < 3; ++to) {
    for (std::size_t i = 0; i < 16; ++i) {
      const std::size_t place = to * 16 + i;
      const std::size_t source = 3 * (15 - place / 3) + place % 3;
      for (std::size_t from = 0; from < 3; ++from) {
        reversed.tables[to][from][i] = source / 16 == from ? static_cast<std::uint8_t>(source % 16) : 0x80;
      }
    }
  }
  return reversed;
}
constexpr ReversedPixels kReversedPixels = make_reversed_pixels();

template <bool kStream>
HWY_INLINE void flip_16(const std::uint8_t* rgb, std::uint8_t* out) {
  const DBlock d;
  const auto first = hn::LoadU(d, rgb);
  const auto second = hn::LoadU(d, rgb + 16);
  const auto third = hn::LoadU(d, rgb + 32);
  const auto part = [d](auto block, std::size_t to, std::size_t from) HWY_ATTR {
    return hn::TableLookupBytesOr0(block, hn::Load(d, kReversedPixels.tables[to][from]));
  };
  store<kStream>(hn::Or(part(third, 0, 2), part(second, 0, 1)), d, out);
  store<kStream>(hn::Or(hn::Or(part(third, 1, 2), part(second, 1, 1)), part(first, 1, 0)), d, out + 16);
  store<kStream>(hn::Or(part(second, 2, 1), part(first, 2, 0)), d, out + 32);
}

void FlipRow(const std::uint8_t* rgb, std::size_t width, bool stream, std::uint8_t* HWY_RESTRICT out) {
  constexpr std::size_t kAtOnce = 16;
  if (width < kAtOnce) return plain::flip_row(rgb, width, out);
  if (stream) {
    for (std::size_t x = 0; x < width; x += kAtOnce) flip_16<true>(rgb + 3 * (width - kAtOnce - x), out + 3 * x);
    return;
  }
  std::size_t x = 0;
  for (; x + kAtOnce <= width; x += kAtOnce) flip_16<false>(rgb + 3 * (width - kAtOnce - x), out + 3 * x);
  if (x < width) flip_16<false>(rgb, out + 3 * (width - kAtOnce));  // some once more
}

alignas(16) constexpr std::uint8_t kReversedBytes[16] = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};

template <bool kFlip, class V>
HWY_INLINE V turned(V bytes) {
  if constexpr (!kFlip) return bytes;
  const hn::ScalableTag<std::uint8_t> d;
  return hn::ReverseBlocks(d, hn::TableLookupBytes(bytes, hn::LoadDup128(d, kReversedBytes)));
}

template <bool kFlip>
void SplitRowTo(const std::uint8_t* rgb, std::size_t width, std::uint8_t* r, std::uint8_t* g, std::uint8_t* b) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  if (width < lanes) return plain::split_row(rgb, width, kFlip, r, g, b);
  for (std::size_t x = 0;;) {
    hn::Vec<decltype(d)> red;
    hn::Vec<decltype(d)> green;
    hn::Vec<decltype(d)> blue;
    hn::LoadInterleaved3(d, rgb + 3 * (kFlip ? width - lanes - x : x), red, green, blue);
    hn::StoreU(turned<kFlip>(red), d, r + x);
    hn::StoreU(turned<kFlip>(green), d, g + x);
    hn::StoreU(turned<kFlip>(blue), d, b + x);
    if (x + lanes == width) return;
    x = x + 2 * lanes <= width ? x + lanes : width - lanes;  // the last vector may make some once more
  }
}

void SplitRow(const std::uint8_t* rgb, std::size_t width, bool flip, std::uint8_t* r, std::uint8_t* g,
              std::uint8_t* b) {
  if (flip) {
    SplitRowTo<true>(rgb, width, r, g, b);
  } else {
    SplitRowTo<false>(rgb, width, r, g, b);
  }
}

using DF = hn::CappedTag<float, FastScale::kPeriod / 3>;
using VF = hn::Vec<DF>;

template <DType kType, bool kStream>
HWY_INLINE void store_as(VF v, std::byte* out, std::size_t index) {
  const DF d;
  const hn::RebindToUnsigned<DF> d32;
  const hn::Rebind<std::uint16_t, DF> d16;
  if constexpr (kType == DType::f32) {
    store<kStream>(v, d, reinterpret_cast<float*>(out) + index);
  } else if constexpr (kType == DType::f16) {
    const hn::Rebind<hwy::float16_t, DF> half;
    store<kStream>(hn::BitCast(d16, hn::DemoteTo(half, v)), d16, reinterpret_cast<std::uint16_t*>(out) + index);
  } else {  // bfloat16, to nearest, halves to even
    const auto bits = hn::BitCast(d32, v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(d32, 0x7FFF))));
    store<kStream>(hn::TruncateTo(d16, rounded), d16, reinterpret_cast<std::uint16_t*>(out) + index);
  }
}

/// Constants of one vector of values.
struct Lane {
  VF mean;
  VF high;
  VF low;
};

template <bool kNormalize>
HWY_INLINE VF scaled(const std::uint8_t* values, VF unit_high, VF unit_low, const Lane& lane) {
  const DF d;
  const hn::RebindToSigned<DF> d32;
  const hn::Rebind<std::uint8_t, DF> d8;
  const VF value = hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d8, values)));
  VF result = hn::MulAdd(value, unit_high, hn::Mul(value, unit_low));
  if constexpr (kNormalize) {
    const VF centered = hn::Sub(result, lane.mean);
    result = hn::MulAdd(centered, lane.high, hn::Mul(centered, lane.low));
  }
  return result;
}

HWY_INLINE Lane lane_at(const FastScale& scale, std::size_t place) {
  const DF d;
  return {hn::LoadU(d, scale.mean.data() + place), hn::LoadU(d, scale.scale_high.data() + place),
          hn::LoadU(d, scale.scale_low.data() + place)};
}

HWY_INLINE Lane lane_of(const FastScale& scale, std::size_t channel) {
  const DF d;
  return {hn::Set(d, scale.mean[channel]), hn::Set(d, scale.scale_high[channel]), hn::Set(d, scale.scale_low[channel])};
}

/// How many values were made: all if at least a vector of them, with the last vector making some once more.
template <DType kType, bool kNormalize, bool kStream>
std::size_t ScalePlane(const std::uint8_t* values, std::size_t count, std::size_t channel, const FastScale& scale,
                       std::byte* out) {
  const DF d;
  const std::size_t lanes = hn::Lanes(d);
  if (count < lanes) return 0;
  const VF high = hn::Set(d, scale.unit_high);
  const VF low = hn::Set(d, scale.unit_low);
  const Lane lane = lane_of(scale, channel);
  for (std::size_t i = 0; i + lanes <= count; i += lanes) {
    store_as<kType, kStream>(scaled<kNormalize>(values + i, high, low, lane), out, i);
  }
  if (count % lanes == 0) return count;
  const std::size_t last = count - lanes;
  store_as<kType, kStream>(scaled<kNormalize>(values + last, high, low, lane), out, last);
  return count;
}

/// How many values were made: three vectors at a time.
template <DType kType, bool kNormalize, bool kStream>
std::size_t ScalePacked(const std::uint8_t* values, std::size_t count, const FastScale& scale, std::byte* out) {
  const DF d;
  const std::size_t lanes = hn::Lanes(d);
  const VF high = hn::Set(d, scale.unit_high);
  const VF low = hn::Set(d, scale.unit_low);
  const Lane first = lane_at(scale, 0);
  const Lane second = lane_at(scale, lanes);
  const Lane third = lane_at(scale, 2 * lanes);
  std::size_t i = 0;
  for (; i + 3 * lanes <= count; i += 3 * lanes) {
    store_as<kType, kStream>(scaled<kNormalize>(values + i, high, low, first), out, i);
    store_as<kType, kStream>(scaled<kNormalize>(values + i + lanes, high, low, second), out, i + lanes);
    store_as<kType, kStream>(scaled<kNormalize>(values + i + 2 * lanes, high, low, third), out, i + 2 * lanes);
  }
  return i;
}

template <DType kType, bool kNormalize, bool kStream>
std::size_t ScaleSome(const std::uint8_t* values, std::size_t count, std::size_t channel, const FastScale& scale,
                      std::byte* out) {
  return channel == kPacked ? ScalePacked<kType, kNormalize, kStream>(values, count, scale, out)
                            : ScalePlane<kType, kNormalize, kStream>(values, count, channel, scale, out);
}

template <DType kType>
std::size_t ScaleAs(const std::uint8_t* values, std::size_t count, std::size_t channel, const FastScale& scale,
                    bool stream, std::byte* out) {
  if (scale.normalize) {
    return stream ? ScaleSome<kType, true, true>(values, count, channel, scale, out)
                  : ScaleSome<kType, true, false>(values, count, channel, scale, out);
  }
  return stream ? ScaleSome<kType, false, true>(values, count, channel, scale, out)
                : ScaleSome<kType, false, false>(values, count, channel, scale, out);
}

void ScaleValues(const std::uint8_t* values, std::size_t count, std::size_t channel, const FastScale& scale,
                 const ValueTables& tables, DType dtype, bool stream, std::byte* out) {
  std::size_t done = 0;
  if (dtype == DType::f32) {
    done = ScaleAs<DType::f32>(values, count, channel, scale, stream, out);
  } else if (dtype == DType::f16) {
    done = ScaleAs<DType::f16>(values, count, channel, scale, stream, out);
  } else {
    done = ScaleAs<DType::bf16>(values, count, channel, scale, stream, out);
  }
  look_up_values(values + done, count - done, channel, tables, dtype, out + done * size_of(dtype));
}

#endif  // HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace imgpack
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpack {

HWY_EXPORT(FlipRow);
HWY_EXPORT(StreamRow);
HWY_EXPORT(SplitRow);
HWY_EXPORT(ScaleValues);

void stream_row(const std::uint8_t* values, std::size_t count, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(StreamRow)(values, count, out);
}
void flip_row(const std::uint8_t* rgb, std::size_t width, bool stream, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(FlipRow)(rgb, width, stream, out);
}
void split_row(const std::uint8_t* rgb, std::size_t width, bool flip, std::uint8_t* r, std::uint8_t* g,
               std::uint8_t* b) {
  HWY_DYNAMIC_DISPATCH(SplitRow)(rgb, width, flip, r, g, b);
}
void scale_values(const std::uint8_t* values, std::size_t count, std::size_t channel, const FastScale& scale,
                  const ValueTables& tables, DType dtype, bool stream, std::byte* out) {
  HWY_DYNAMIC_DISPATCH(ScaleValues)(values, count, channel, scale, tables, dtype, stream, out);
}

void end_streaming() {
  hwy::FlushStream();
}

void look_up_values(const std::uint8_t* values, std::size_t count, std::size_t channel, const ValueTables& tables,
                    DType dtype, std::byte* out) {
  if (dtype == DType::f32) {
    plain::look_up(values, count, channel, tables.f32, reinterpret_cast<float*>(out));
  } else {
    plain::look_up(values, count, channel, tables.half, reinterpret_cast<std::uint16_t*>(out));
  }
}

}  // namespace imgpack
#endif
