// Standard normal values for RandomErasing, as many as pixels need: four from each block of random bits (Box and
// Muller), value n from block n / 4, so that any of them can be made alone.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "reader/random/philox.h"
#include "reader/random/random_stream.h"

namespace imgpack {

class NormalNoise {
 public:
  /// `operation` is the step's; its rectangle was drawn from the stream of that number, this is another one.
  NormalNoise(std::uint64_t key, std::uint64_t record, std::uint32_t operation) noexcept
      : key_(key), record_(record), operation_(operation | std::uint32_t{1} << 31) {}

  /// The next value, within about 6.7 deviations.
  float next() noexcept {
    if (used_ == values_.size()) refill();
    return values_[used_++];
  }

 private:
  void refill() noexcept {
    const PhiloxBlock block = philox4x32(counter_of(record_, operation_, number_++), key_);
    for (std::size_t i = 0; i < values_.size(); i += 2) {
      const float uniform = static_cast<float>(block.words[i]) * 0x1p-32F + 0x1p-33F;  // in (0, 1]
      const float radius = std::sqrt(-2 * std::log(uniform));
      const float angle = static_cast<float>(block.words[i + 1]) * (0x1p-31F * std::numbers::pi_v<float>);
      values_[i] = radius * std::cos(angle);
      values_[i + 1] = radius * std::sin(angle);
    }
    used_ = 0;
  }

  std::uint64_t key_;
  std::uint64_t record_;
  std::uint32_t operation_;
  std::uint32_t number_ = 0;
  std::array<float, 4> values_{};
  std::size_t used_ = values_.size();
};

}  // namespace imgpack
