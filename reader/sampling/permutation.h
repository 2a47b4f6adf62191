// A pseudo-random permutation of [0, size) that is computed for each index, without a table.
//
// A generalised Feistel network (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002): numbers are
// written as pairs (left, right) with left < a, right < b and a * b a little above `size`; rounds add a keyed hash of
// one half to the other, modulo its range; what lands outside [0, size) goes through again. Where both ranges are odd,
// such rounds make even permutations only; so a bit of the key says whether 0 and 1 change places in the end.
#pragma once

#include <array>
#include <cstdint>

namespace imgpack {

class Permutation {
 public:
  /// REQUIRES: size < 2^63. Different keys give independent permutations.
  Permutation(std::uint64_t size, std::uint64_t key) noexcept;

  std::uint64_t size() const noexcept { return size_; }
  /// A bijection of [0, size). REQUIRES: index < size().
  std::uint64_t operator()(std::uint64_t index) const noexcept;

 private:
  static constexpr int kMaxRounds = 24;

  std::uint64_t size_;
  std::uint64_t left_range_ = 1;                        ///< a
  std::uint64_t right_range_ = 1;                       ///< b
  int rounds_ = 0;                                      ///< even
  std::uint64_t swap_ = 0;                              ///< 1: 0 and 1 change places
  std::array<std::uint64_t, kMaxRounds> round_keys_{};  ///< the first `rounds_` of them
};

}  // namespace imgpack
