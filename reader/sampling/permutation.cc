#include "reader/sampling/permutation.h"

#include <algorithm>
#include <cmath>

#include "reader/random/multiply_high.h"
#include "reader/random/random_stream.h"

namespace imgpack {

namespace {

/// Where halves have few values, more rounds are needed until nothing is left of the order.
constexpr std::uint64_t kSmall = 1u << 12;
constexpr int kRounds = 12;

/// A hash of `half`, uniform in [0, range): the mixing steps are those of MurmurHash3's finalizer.
std::uint64_t hash_below(std::uint64_t half, std::uint64_t key, std::uint64_t range) noexcept {
  std::uint64_t x = (half ^ key) * 0xFF51AFD7ED558CCD;
  x ^= x >> 32;
  x *= 0xC4CEB9FE1A85EC53;
  x ^= x >> 29;
  x *= 0x9E3779B97F4A7C15;
  return multiply_high(x, range);
}

std::uint64_t add_modulo(std::uint64_t a, std::uint64_t b, std::uint64_t range) noexcept {
  const std::uint64_t sum = a + b;
  return sum >= range ? sum - range : sum;
}

std::uint64_t root_rounded_up(std::uint64_t value) noexcept {
  auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(value)));
  while (root * root < value) ++root;
  while (root > 1 && (root - 1) * (root - 1) >= value) --root;
  return root;
}

}  // namespace

Permutation::Permutation(std::uint64_t size, std::uint64_t key) noexcept : size_(size) {
  if (size < 2) return;
  left_range_ = root_rounded_up(size);
  right_range_ = (size + left_range_ - 1) / left_range_;
  rounds_ = size < kSmall ? kMaxRounds : kRounds;
  RandomStream stream(key, 0, 0);
  for (int round = 0; round < rounds_; ++round) round_keys_[static_cast<std::size_t>(round)] = stream.next_64();
  swap_ = stream.next_32() & 1;
}

std::uint64_t Permutation::operator()(std::uint64_t index) const noexcept {
  if (size_ < 2) return index;
  do {
    std::uint64_t left = index / right_range_;
    std::uint64_t right = index % right_range_;
    for (std::size_t round = 0; round < static_cast<std::size_t>(rounds_); round += 2) {
      left = add_modulo(left, hash_below(right, round_keys_[round], left_range_), left_range_);
      right = add_modulo(right, hash_below(left, round_keys_[round + 1], right_range_), right_range_);
    }
    index = left * right_range_ + right;
  } while (index >= size_);
  return index < 2 ? index ^ swap_ : index;
}

}  // namespace imgpack
