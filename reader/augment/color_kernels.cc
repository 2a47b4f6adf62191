// This file is compiled once for each target that Highway knows on this architecture, and without contraction of
// floating-point operations (reader/CMakeLists.txt): Pillow rounds after each one.
#include "reader/augment/color_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reader/augment/color_kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "reader/augment/plain_color.h"

HWY_BEFORE_NAMESPACE();
namespace imgpack {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::CappedTag<float, 16>;
using D32 = hn::RebindToSigned<DF>;
using D8 = hn::Rebind<std::uint8_t, DF>;
using VF = hn::Vec<DF>;
using V32 = hn::Vec<D32>;
using V8 = hn::Vec<D8>;

HWY_INLINE V32 luma(V32 r, V32 g, V32 b) {
  const D32 d;
  const V32 red = hn::Mul(r, hn::Set(d, 19595));
  const V32 green = hn::Mul(g, hn::Set(d, 38470));
  const V32 blue = hn::Add(hn::Mul(b, hn::Set(d, 7471)), hn::Set(d, 0x8000));
  return hn::ShiftRight<16>(hn::Add(hn::Add(red, green), blue));
}

HWY_INLINE V8 blend(V32 from, V32 to, VF factor) {
  const DF d;
  const VF value = hn::Add(hn::ConvertTo(d, from), hn::Mul(factor, hn::ConvertTo(d, hn::Sub(to, from))));
  const VF clipped = hn::Min(hn::Max(value, hn::Zero(d)), hn::Set(d, 255.0F));
  return hn::DemoteTo(D8(), hn::ConvertTo(D32(), clipped));
}

struct Pixels {
  HWY_INLINE explicit Pixels(const std::uint8_t* rgb) {
    V8 bytes[3];
    hn::LoadInterleaved3(D8(), rgb, bytes[0], bytes[1], bytes[2]);
    r = hn::PromoteTo(D32(), bytes[0]);
    g = hn::PromoteTo(D32(), bytes[1]);
    b = hn::PromoteTo(D32(), bytes[2]);
  }
  V32 r, g, b;
};

std::uint64_t SumLuma(const std::uint8_t* rgb, std::size_t width) {
  const D32 d;
  const std::size_t lanes = hn::Lanes(d);
  V32 sums = hn::Zero(d);
  std::size_t x = 0;
  for (; x + lanes <= width; x += lanes) {
    const Pixels pixels(rgb + 3 * x);
    sums = hn::Add(sums, luma(pixels.r, pixels.g, pixels.b));
  }
  HWY_ALIGN std::int32_t parts[hn::MaxLanes(D32())];
  hn::Store(sums, d, parts);
  std::uint64_t sum = plain::sum_luma(rgb + 3 * x, width - x);
  for (std::size_t i = 0; i < lanes; ++i) sum += static_cast<std::uint64_t>(parts[i]);
  return sum;
}

void BlendRowWith(std::uint8_t* values, std::size_t count, int from, float factor) {
  const std::size_t lanes = hn::Lanes(D32());
  const V32 origin = hn::Set(D32(), from);
  const VF factors = hn::Set(DF(), factor);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V32 to = hn::PromoteTo(D32(), hn::LoadU(D8(), values + i));
    hn::StoreU(blend(origin, to, factors), D8(), values + i);
  }
  plain::blend_row_with(values + i, count - i, from, factor);
}

void SaturateRow(std::uint8_t* rgb, std::size_t width, float factor) {
  const std::size_t lanes = hn::Lanes(D32());
  const VF factors = hn::Set(DF(), factor);
  std::size_t x = 0;
  for (; x + lanes <= width; x += lanes) {
    const Pixels pixels(rgb + 3 * x);
    const V32 gray = luma(pixels.r, pixels.g, pixels.b);
    hn::StoreInterleaved3(blend(gray, pixels.r, factors), blend(gray, pixels.g, factors),
                          blend(gray, pixels.b, factors), D8(), rgb + 3 * x);
  }
  plain::saturate_row(rgb + 3 * x, width - x, factor);
}

void GrayRow(std::uint8_t* rgb, std::size_t width) {
  const std::size_t lanes = hn::Lanes(D32());
  std::size_t x = 0;
  for (; x + lanes <= width; x += lanes) {
    const Pixels pixels(rgb + 3 * x);
    const V8 gray = hn::DemoteTo(D8(), luma(pixels.r, pixels.g, pixels.b));
    hn::StoreInterleaved3(gray, gray, gray, D8(), rgb + 3 * x);
  }
  plain::gray_row(rgb + 3 * x, width - x);
}

}  // namespace HWY_NAMESPACE
}  // namespace imgpack
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpack {

HWY_EXPORT(SumLuma);
HWY_EXPORT(BlendRowWith);
HWY_EXPORT(SaturateRow);
HWY_EXPORT(GrayRow);

std::uint64_t sum_luma(const std::uint8_t* rgb, std::size_t width) {
  return HWY_DYNAMIC_DISPATCH(SumLuma)(rgb, width);
}
void blend_row_with(std::uint8_t* values, std::size_t count, int from, float factor) {
  HWY_DYNAMIC_DISPATCH(BlendRowWith)(values, count, from, factor);
}
void saturate_row(std::uint8_t* rgb, std::size_t width, float factor) {
  HWY_DYNAMIC_DISPATCH(SaturateRow)(rgb, width, factor);
}
void gray_row(std::uint8_t* rgb, std::size_t width) {
  HWY_DYNAMIC_DISPATCH(GrayRow)(rgb, width);
}

}  // namespace imgpack
#endif
