// This file is compiled once for each target that Highway knows on this architecture.
#include "codec/resize/row_kernels.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "codec/resize/fixed_point.h"

// The vectors must consist of a known number of 16-byte blocks, which those of SVE and RISC-V do not.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/resize/row_kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace imgpack::resampling {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// One value, out of value_of(tap).
std::uint8_t weigh_value(const WeightPair* weights, std::size_t pairs, auto&& value_of) {
  std::int32_t sum = kWeightHalf;
  for (std::size_t t = 0; t < pairs * 2; ++t) {
    const WeightPair& pair = weights[t / 2];
    sum = add_weighted(sum, value_of(t), pair.high[t % 2] * 65536 + pair.low[t % 2]);
  }
  return finish_value(sum);
}

/// weigh_rows() without vectors.
void weigh_bytes(const WeightPair* weights, std::size_t pairs, const std::uint8_t* const* rows, std::size_t bytes,
                 std::uint8_t* result) {
  for (std::size_t x = 0; x < bytes; ++x) {
    result[x] = weigh_value(weights, pairs, [&](std::size_t t) { return rows[t][x]; });
  }
}

#if HWY_TARGET == HWY_SCALAR

void weigh_pixels_of_target(const PixelTaps& taps, std::uint32_t begin, std::uint32_t end,
                            const std::uint8_t* const* sources, std::uint32_t origin, std::uint8_t* const* results,
                            std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::uint8_t* source = sources[row] + (taps.offsets[i] - origin);
      for (std::size_t channel = 0; channel < 3; ++channel) {
        results[row][std::size_t{i} * 3 + channel] =
            weigh_value(taps.weights + std::size_t{i} * taps.pairs, taps.pairs,
                        [&](std::size_t t) { return source[t * 3 + channel]; });
      }
    }
  }
}

void weigh_rows_of_target(const WeightPair* weights, std::size_t pairs, const std::uint8_t* const* rows,
                          std::size_t bytes, std::uint8_t* result) {
  weigh_bytes(weights, pairs, rows, bytes, result);
}

#else

constexpr hn::ScalableTag<std::uint8_t> kD8;
constexpr hn::ScalableTag<std::int16_t> kD16;
constexpr hn::ScalableTag<std::int32_t> kD32;
using D8 = decltype(kD8);
using D32 = decltype(kD32);
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<decltype(kD16)>;
using V32 = hn::Vec<D32>;
constexpr std::size_t kVectorBytes = hn::MaxLanes(kD8);
constexpr std::size_t kBlocks = kVectorBytes / 16;
static_assert(kBlocks == 1 || kBlocks == 2 || kBlocks == 4);

/// sum + a0 * b0 + a1 * b1 for each pair of neighbours.
HWY_INLINE V32 add_products(V32 sum, V16 a, V16 b) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return hn::Add(sum, V32{_mm512_madd_epi16(a.raw, b.raw)});
#elif HWY_TARGET == HWY_AVX2
  return hn::Add(sum, V32{_mm256_madd_epi16(a.raw, b.raw)});
#elif HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
  return hn::Add(sum, V32{_mm_madd_epi16(a.raw, b.raw)});
#else
  const auto even = [](V16 v) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(kD32, v))); };
  const auto odd = [](V16 v) { return hn::ShiftRight<16>(hn::BitCast(kD32, v)); };
  return hn::Add(sum, hn::Add(hn::Mul(even(a), even(b)), hn::Mul(odd(a), odd(b))));
#endif
}

/// Clamps to bytes; each block of the result holds the same blocks of `a` and then `b`.
HWY_INLINE V8 pack_to_bytes(V16 a, V16 b) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return V8{_mm512_packus_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
  return V8{_mm256_packus_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
  return V8{_mm_packus_epi16(a.raw, b.raw)};
#else
  const hn::Half<D8> half;
  return hn::Combine(kD8, hn::DemoteTo(half, b), hn::DemoteTo(half, a));
#endif
}

HWY_INLINE V32 half() {
  return hn::Set(kD32, kWeightHalf);
}

HWY_INLINE V32 finish(V32 low, V32 high) {
  return hn::ShiftRight<kWeightBits>(hn::Add(low, hn::ShiftLeft<16>(high)));
}

HWY_INLINE V8 finish_four(const V32* low, const V32* high) {
  const V16 first = hn::ReorderDemote2To(kD16, finish(low[0], high[0]), finish(low[1], high[1]));
  const V16 second = hn::ReorderDemote2To(kD16, finish(low[2], high[2]), finish(low[3], high[3]));
  return pack_to_bytes(first, second);
}

HWY_INLINE V16 broadcast_pair(const std::int16_t* pair) {
  std::int32_t both;
  std::memcpy(&both, pair, sizeof both);
  return hn::BitCast(kD16, hn::Set(kD32, both));
}

/// Block b from at[b] + offset.
HWY_INLINE V8 load_blocks(const std::uint8_t* const* at, std::size_t offset) {
  const hn::FixedTag<std::uint8_t, 16> block;
  const auto load = [=](std::size_t b) HWY_ATTR { return hn::LoadU(block, at[b] + offset); };
#if HWY_CAP_GE512
  const hn::Half<D8> half_tag;
  return hn::Combine(kD8, hn::Combine(half_tag, load(3), load(2)), hn::Combine(half_tag, load(1), load(0)));
#elif HWY_CAP_GE256
  return hn::Combine(kD8, load(1), load(0));
#else
  return load(0);
#endif
}

HWY_INLINE void store_blocks(V8 v, std::uint8_t* const* at, std::size_t offset) {
  const hn::FixedTag<std::uint8_t, 16> block;
  const auto store = [=](auto part, std::size_t b) HWY_ATTR { hn::StoreU(part, block, at[b] + offset); };
#if HWY_CAP_GE512
  const hn::Half<D8> half_tag;
  const auto lower = hn::LowerHalf(half_tag, v);
  const auto upper = hn::UpperHalf(half_tag, v);
  store(hn::LowerHalf(block, lower), 0);
  store(hn::UpperHalf(block, lower), 1);
  store(hn::LowerHalf(block, upper), 2);
  store(hn::UpperHalf(block, upper), 3);
#elif HWY_CAP_GE256
  store(hn::LowerHalf(block, v), 0);
  store(hn::UpperHalf(block, v), 1);
#else
  store(v, 0);
#endif
}

// Two packed pixels as the 16-bit pairs (R, R), (G, G), (B, B); and the next two. 0x80: zero.
alignas(16) constexpr std::uint8_t kFirstPair[16] = {0, 0x80, 3, 0x80, 1,    0x80, 4,    0x80,
                                                     2, 0x80, 5, 0x80, 0x80, 0x80, 0x80, 0x80};
alignas(16) constexpr std::uint8_t kSecondPair[16] = {6, 0x80, 9,  0x80, 7,    0x80, 10,   0x80,
                                                      8, 0x80, 11, 0x80, 0x80, 0x80, 0x80, 0x80};
// Four pixels of 4 bytes to four of 3.
alignas(16) constexpr std::uint8_t kDropFourth[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 0x80, 0x80, 0x80, 0x80};

/// Calls `work` with the number of pairs as a constant, or with 0 where there are many.
void with_known_pairs(std::size_t pairs, auto&& work) {
  switch (pairs) {
    case 1:
      return work(std::integral_constant<std::uint32_t, 1>());
    case 2:
      return work(std::integral_constant<std::uint32_t, 2>());
    case 3:
      return work(std::integral_constant<std::uint32_t, 3>());
    case 4:
      return work(std::integral_constant<std::uint32_t, 4>());
    case 5:
      return work(std::integral_constant<std::uint32_t, 5>());
    case 6:
      return work(std::integral_constant<std::uint32_t, 6>());
    case 7:
      return work(std::integral_constant<std::uint32_t, 7>());
    case 8:
      return work(std::integral_constant<std::uint32_t, 8>());
    default:
      return work(std::integral_constant<std::uint32_t, 0>());
  }
}

/// A vector holds one pixel of kBlocks rows, a block each. kPairs: how many there are, or 0 for any number.
template <std::uint32_t kPairs>
void weigh_pixels_of_rows(const PixelTaps& taps, std::uint32_t begin, std::uint32_t end,
                          const std::uint8_t* const* sources, std::uint32_t origin, std::uint8_t* const* results) {
  const V8 first_pair = hn::LoadDup128(kD8, kFirstPair);
  const V8 second_pair = hn::LoadDup128(kD8, kSecondPair);
  const V8 drop_fourth = hn::LoadDup128(kD8, kDropFourth);
  const std::uint32_t pairs = kPairs != 0 ? kPairs : taps.pairs;
  const WeightPair* weights = taps.weights + std::size_t{begin} * pairs;
  const auto expand = [](V8 pixels, V8 table)
                          HWY_ATTR { return hn::BitCast(kD16, hn::TableLookupBytesOr0(pixels, table)); };
  for (std::uint32_t i = begin; i < end; i += kPixelGroup) {
    V32 low[kPixelGroup];
    V32 high[kPixelGroup];
    for (std::uint32_t k = 0; k < kPixelGroup; ++k) {
      V32 low_sum = half();
      V32 high_sum = hn::Zero(kD32);
      std::size_t offset = taps.offsets[i + k] - origin;
      std::uint32_t pair = 0;
      for (; pair + 2 <= pairs; pair += 2, offset += 2 * kPairBytes, weights += 2) {
        const V8 pixels = load_blocks(sources, offset);
        const V16 first = expand(pixels, first_pair);
        const V16 second = expand(pixels, second_pair);
        low_sum = add_products(low_sum, first, broadcast_pair(weights[0].low));
        high_sum = add_products(high_sum, first, broadcast_pair(weights[0].high));
        low_sum = add_products(low_sum, second, broadcast_pair(weights[1].low));
        high_sum = add_products(high_sum, second, broadcast_pair(weights[1].high));
      }
      if (pair < pairs) {
        const V16 first = expand(load_blocks(sources, offset), first_pair);
        low_sum = add_products(low_sum, first, broadcast_pair(weights[0].low));
        high_sum = add_products(high_sum, first, broadcast_pair(weights[0].high));
        ++weights;
      }
      low[k] = low_sum;
      high[k] = high_sum;
    }
    store_blocks(hn::TableLookupBytesOr0(finish_four(low, high), drop_fourth), results, std::size_t{i} * 3);
  }
}

void weigh_pixels_of_target(const PixelTaps& taps, std::uint32_t begin, std::uint32_t end,
                            const std::uint8_t* const* sources, std::uint32_t origin, std::uint8_t* const* results,
                            std::size_t rows) {
  for (std::size_t row = 0; row < rows; row += kBlocks) {
    // The last row stands in for missing ones: it is then made more than once.
    const std::uint8_t* from[kBlocks];
    std::uint8_t* to[kBlocks];
    for (std::size_t block = 0; block < kBlocks; ++block) {
      const std::size_t index = std::min(row + block, rows - 1);
      from[block] = sources[index];
      to[block] = results[index];
    }
    with_known_pairs(taps.pairs, [&](auto pairs) { weigh_pixels_of_rows<pairs>(taps, begin, end, from, origin, to); });
  }
}

/// One vector of the result, at byte x.
template <std::uint32_t kPairs>
HWY_INLINE V8 weigh_vector(const WeightPair* weights, std::size_t any_pairs, const std::uint8_t* const* rows,
                           std::size_t x) {
  const std::size_t pairs = kPairs != 0 ? kPairs : any_pairs;
  const V8 zero = hn::Zero(kD8);
  V32 low[4] = {half(), half(), half(), half()};
  V32 high[4] = {hn::Zero(kD32), hn::Zero(kD32), hn::Zero(kD32), hn::Zero(kD32)};
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const V8 a = hn::LoadU(kD8, rows[pair * 2] + x);
    const V8 b = hn::LoadU(kD8, rows[pair * 2 + 1] + x);
    const V8 lower = hn::InterleaveLower(kD8, a, b);
    const V8 upper = hn::InterleaveUpper(kD8, a, b);
    const V16 values[4] = {hn::BitCast(kD16, hn::InterleaveLower(kD8, lower, zero)),
                           hn::BitCast(kD16, hn::InterleaveUpper(kD8, lower, zero)),
                           hn::BitCast(kD16, hn::InterleaveLower(kD8, upper, zero)),
                           hn::BitCast(kD16, hn::InterleaveUpper(kD8, upper, zero))};
    const V16 low_weights = broadcast_pair(weights[pair].low);
    const V16 high_weights = broadcast_pair(weights[pair].high);
    for (std::size_t k = 0; k < 4; ++k) {
      low[k] = add_products(low[k], values[k], low_weights);
      high[k] = add_products(high[k], values[k], high_weights);
    }
  }
  return finish_four(low, high);
}

template <std::uint32_t kPairs>
void weigh_rows_with(const WeightPair* weights, std::size_t pairs, const std::uint8_t* const* rows, std::size_t bytes,
                     std::uint8_t* result) {
  std::size_t x = 0;
  for (; x + kVectorBytes <= bytes; x += kVectorBytes) {
    hn::StoreU(weigh_vector<kPairs>(weights, pairs, rows, x), kD8, result + x);
  }
  if (x < bytes) {  // a vector that begins earlier makes some bytes once more
    x = bytes - kVectorBytes;
    hn::StoreU(weigh_vector<kPairs>(weights, pairs, rows, x), kD8, result + x);
  }
}

void weigh_rows_of_target(const WeightPair* weights, std::size_t pairs, const std::uint8_t* const* rows,
                          std::size_t bytes, std::uint8_t* result) {
  if (bytes < kVectorBytes) return weigh_bytes(weights, pairs, rows, bytes, result);
  with_known_pairs(pairs, [&](auto known) { weigh_rows_with<known>(weights, pairs, rows, bytes, result); });
}

#endif  // HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace imgpack::resampling
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpack::resampling {

HWY_EXPORT(weigh_pixels_of_target);
HWY_EXPORT(weigh_rows_of_target);

void pack_weights(std::span<const std::int32_t> weights, std::vector<WeightPair>& out) {
  out.resize(weights.size() / 2);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto low = static_cast<std::int16_t>(weights[i] & 0xFFFF);
    out[i / 2].low[i % 2] = low;
    out[i / 2].high[i % 2] = static_cast<std::int16_t>((weights[i] - low) / 65536);
  }
}

void weigh_pixels(const PixelTaps& taps, std::uint32_t begin, std::uint32_t end,
                  std::span<const std::uint8_t* const> sources, std::uint32_t origin,
                  std::span<std::uint8_t* const> results) {
  HWY_DYNAMIC_DISPATCH(weigh_pixels_of_target)
  (taps, begin, end, sources.data(), origin, results.data(), sources.size());
}

void weigh_rows(std::span<const WeightPair> weights, const std::uint8_t* const* rows, std::size_t bytes,
                std::uint8_t* result) {
  HWY_DYNAMIC_DISPATCH(weigh_rows_of_target)(weights.data(), weights.size(), rows, bytes, result);
}

}  // namespace imgpack::resampling
#endif
