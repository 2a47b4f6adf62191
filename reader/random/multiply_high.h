// The upper half of a 64-bit product: maps a uniform 64-bit number to [0, range) without a division.
#pragma once

#include <cstdint>

namespace imgpack {

__extension__ using Unsigned128 = unsigned __int128;

constexpr std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) noexcept {
  return static_cast<std::uint64_t>(static_cast<Unsigned128>(a) * b >> 64);
}

}  // namespace imgpack
