#include "formats/index_permutation.h"

#include <bit>

namespace imgpack {

namespace {

/// SplitMix64's output function (Steele, Lea, Flood, 2014).
std::uint64_t mix(std::uint64_t value) noexcept {
  value += 0x9e37'79b9'7f4a'7c15;
  value = (value ^ (value >> 30)) * 0xbf58'476d'1ce4'e5b9;
  value = (value ^ (value >> 27)) * 0x94d0'49bb'1331'11eb;
  return value ^ (value >> 31);
}

}  // namespace

IndexPermutation::IndexPermutation(std::uint64_t n, std::uint64_t seed) noexcept : n_(n) {
  const int bits = n <= 2 ? 1 : static_cast<int>(std::bit_width(n - 1));
  half_bits_ = (bits + 1) / 2;
  half_mask_ = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t state = mix(seed);
  for (std::uint64_t& key : keys_) key = state = mix(state);
}

std::uint64_t IndexPermutation::encrypt(std::uint64_t value) const noexcept {
  std::uint64_t left = value >> half_bits_;
  std::uint64_t right = value & half_mask_;
  for (const std::uint64_t key : keys_) {
    const std::uint64_t next = left ^ (mix(right ^ key) & half_mask_);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

std::uint64_t IndexPermutation::operator()(std::uint64_t index) const noexcept {
  std::uint64_t value = encrypt(index);
  while (value >= n_) value = encrypt(value);
  return value;
}

}  // namespace imgpack
