// This file is compiled once for each target that Highway knows on this architecture, and without contraction of
// floating-point operations (reader/CMakeLists.txt): torch rounds after each one.
#include "reader/augment/mix_kernels.h"

#include <cmath>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reader/augment/mix_kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

#include "reader/augment/half.h"

// Whether the target's own conversions to half precision round as half.h; what Highway puts in their place does not.
#undef IMGPACK_TARGET_HAS_HALF
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)) || \
    (HWY_ARCH_ARM_A64 && HWY_TARGET == HWY_NEON)
#define IMGPACK_TARGET_HAS_HALF 1
#else
#define IMGPACK_TARGET_HAS_HALF 0
#endif

HWY_BEFORE_NAMESPACE();
namespace imgpack {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using VF = hn::Vec<DF>;

struct FloatValues {
  using Type = float;
  static float load(float value) { return value; }
  static float store(float value) { return value; }
  static HWY_INLINE VF load_vector(const float* at) { return hn::LoadU(DF(), at); }
  static HWY_INLINE void store_vector(VF v, float* at) { hn::StoreU(v, DF(), at); }
};

struct ByteValues {
  using Type = std::uint8_t;
  using D8 = hn::Rebind<std::uint8_t, DF>;
  using D32 = hn::RebindToSigned<DF>;
  static float load(std::uint8_t value) { return value; }
  static std::uint8_t store(float value) { return static_cast<std::uint8_t>(std::nearbyint(value)); }
  static HWY_INLINE VF load_vector(const std::uint8_t* at) {
    return hn::ConvertTo(DF(), hn::PromoteTo(D32(), hn::LoadU(D8(), at)));
  }
  static HWY_INLINE void store_vector(VF v, std::uint8_t* at) {
    hn::StoreU(hn::DemoteTo(D8(), hn::NearestInt(v)), D8(), at);
  }
};

struct BrainValues {
  using Type = std::uint16_t;
  using D16 = hn::Rebind<std::uint16_t, DF>;
  using D32 = hn::RebindToUnsigned<DF>;
  static float load(std::uint16_t value) { return from_bfloat16(value); }
  static std::uint16_t store(float value) { return to_bfloat16(value); }
  static HWY_INLINE VF load_vector(const std::uint16_t* at) {
    return hn::BitCast(DF(), hn::ShiftLeft<16>(hn::PromoteTo(D32(), hn::LoadU(D16(), at))));
  }
  static HWY_INLINE void store_vector(VF v, std::uint16_t* at) {
    const D32 d32;
    const auto bits = hn::BitCast(d32, v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(d32, 0x7FFF))));
    hn::StoreU(hn::TruncateTo(D16(), rounded), D16(), at);
  }
};

struct HalfValues {
  using Type = std::uint16_t;
  static float load(std::uint16_t value) { return from_float16(value); }
  static std::uint16_t store(float value) { return to_float16(value); }
#if IMGPACK_TARGET_HAS_HALF
  using D16 = hn::Rebind<std::uint16_t, DF>;
  using DH = hn::Rebind<hwy::float16_t, DF>;
  static HWY_INLINE VF load_vector(const std::uint16_t* at) {
    return hn::PromoteTo(DF(), hn::BitCast(DH(), hn::LoadU(D16(), at)));
  }
  static HWY_INLINE void store_vector(VF v, std::uint16_t* at) {
    hn::StoreU(hn::BitCast(D16(), hn::DemoteTo(DH(), v)), D16(), at);
  }
#endif
};

template <class Values>
std::size_t BlendVectors(typename Values::Type* own, const typename Values::Type* other, std::size_t count,
                         float own_share, float other_share) {
  const DF d;
  const std::size_t lanes = hn::Lanes(d);
  const VF own_factor = hn::Set(d, own_share);
  const VF other_factor = hn::Set(d, other_share);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const VF product = hn::Mul(Values::load_vector(own + i), own_factor);
    Values::store_vector(hn::Add(product, hn::Mul(Values::load_vector(other + i), other_factor)), own + i);
  }
  return i;
}

template <class Values, bool kVectors = true>
void BlendAs(std::byte* own_bytes, const std::byte* other_bytes, std::size_t count, float own_share,
             float other_share) {
  using Type = typename Values::Type;
  auto* const own = reinterpret_cast<Type*>(own_bytes);
  const auto* const other = reinterpret_cast<const Type*>(other_bytes);
  std::size_t i = 0;
  if constexpr (kVectors) i = BlendVectors<Values>(own, other, count, own_share, other_share);
  for (; i < count; ++i) {
    const float product = Values::load(own[i]) * own_share;
    own[i] = Values::store(product + Values::load(other[i]) * other_share);
  }
}

void BlendValues(DType dtype, std::byte* own, const std::byte* other, std::size_t count, float own_share,
                 float other_share) {
  switch (dtype) {
    case DType::u8:
      return BlendAs<ByteValues>(own, other, count, own_share, other_share);
    case DType::f32:
      return BlendAs<FloatValues>(own, other, count, own_share, other_share);
    case DType::f16:
      return BlendAs<HalfValues, IMGPACK_TARGET_HAS_HALF == 1>(own, other, count, own_share, other_share);
    case DType::bf16:
      return BlendAs<BrainValues>(own, other, count, own_share, other_share);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace imgpack
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpack {

HWY_EXPORT(BlendValues);

void blend_values(DType dtype, std::byte* own, const std::byte* other, std::size_t count, float own_share,
                  float other_share) {
  HWY_DYNAMIC_DISPATCH(BlendValues)(dtype, own, other, count, own_share, other_share);
}

}  // namespace imgpack
#endif
