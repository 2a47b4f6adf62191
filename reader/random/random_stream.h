// Random numbers that depend on what they are for, not on who asks first.
//
// Every random choice of the reader comes from a stream named by numbers:
//
//   key    = first 64 bits of philox(counter = (epoch low, epoch high, purpose, dataset), key = seed)
//   key    = first 64 bits of philox(counter = (draw low, draw high, 0, 2^31), key)             where draw != 0
//   block  = philox(counter = (item low, item high, operation, block number), key)
//
// with `item` a record or a position, `operation` one of several things that are drawn for it, and block numbers from
// 0 on.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "reader/random/multiply_high.h"
#include "reader/random/philox.h"

namespace imgpack {

/// What a key is for; different purposes are independent.
enum class RandomPurpose : std::uint32_t { order = 1, window = 2, draws = 3, mixture = 4, augment = 5, batch = 6 };

constexpr std::uint64_t low_64(const PhiloxBlock& block) noexcept {
  return block.words[0] | std::uint64_t{block.words[1]} << 32;
}

constexpr PhiloxBlock counter_of(std::uint64_t low, std::uint32_t third, std::uint32_t fourth) noexcept {
  return {{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32), third, fourth}};
}

/// The key of one purpose in one epoch, for one of several datasets, for one of several draws.
constexpr std::uint64_t random_key(std::uint64_t seed, std::uint64_t epoch, RandomPurpose purpose,
                                   std::uint32_t dataset = 0, std::uint64_t draw = 0) noexcept {
  const std::uint64_t key = low_64(philox4x32(counter_of(epoch, static_cast<std::uint32_t>(purpose), dataset), seed));
  return draw == 0 ? key : low_64(philox4x32(counter_of(draw, 0, 1u << 31), key));
}

/// Consecutive random numbers of one operation on one item. Cheap to make; not thread-safe.
class RandomStream {
 public:
  constexpr RandomStream(std::uint64_t key, std::uint64_t item, std::uint32_t operation) noexcept
      : key_(key), item_(item), operation_(operation) {}

  constexpr std::uint32_t next_32() noexcept {
    if (used_ == 4) {
      block_ = philox4x32(counter_of(item_, operation_, number_++), key_);
      used_ = 0;
    }
    return block_.words[used_++];
  }
  constexpr std::uint64_t next_64() noexcept {
    const std::uint64_t low = next_32();
    return low | std::uint64_t{next_32()} << 32;
  }
  /// In [0, 1), multiples of 2^-53.
  constexpr double uniform() noexcept { return static_cast<double>(next_64() >> 11) * 0x1p-53; }
  /// In [low, high), or low if they are equal.
  constexpr double uniform(double low, double high) noexcept { return low + (high - low) * uniform(); }
  /// In [0, count); each value's probability differs from 1 / count by 2^-64 at most. REQUIRES: count > 0.
  std::uint64_t below(std::uint64_t count) noexcept { return multiply_high(next_64(), count); }
  /// Standard normal (Box and Muller).
  double normal() noexcept {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t key_;
  std::uint64_t item_;
  std::uint32_t operation_;
  std::uint32_t number_ = 0;
  int used_ = 4;
  PhiloxBlock block_{};
};

}  // namespace imgpack
