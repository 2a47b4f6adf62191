// A pseudo-random permutation of 0 .. n-1 that is computed index by index: no table, any n.
#pragma once

#include <cstdint>

namespace imgpack {

/// A balanced Feistel network over the smallest even number of bits that holds n, walked along its cycle until the
/// image lies below n (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002: cycle-walking). Eight rounds;
/// round function: SplitMix64's finaliser. Not for cryptography. The mapping is part of the reproducibility promise:
/// equal (n, seed) give equal orders in every version with the same major number. Immutable, thread-safe.
class IndexPermutation {
 public:
  IndexPermutation(std::uint64_t n, std::uint64_t seed) noexcept;
  /// REQUIRES: index < n. At most a few rounds of the cycle on average (the domain is less than 4 n).
  std::uint64_t operator()(std::uint64_t index) const noexcept;

 private:
  std::uint64_t encrypt(std::uint64_t value) const noexcept;

  static constexpr int kRounds = 8;
  std::uint64_t n_;
  int half_bits_;
  std::uint64_t half_mask_;
  std::uint64_t keys_[kRounds];
};

}  // namespace imgpack
