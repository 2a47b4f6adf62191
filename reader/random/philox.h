// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as
// 1, 2, 3" (SC 2011): 128 random bits as a function of a 128-bit counter and a 64-bit key. For host and device.
#pragma once

#include <cstdint>

#include "codec/host_device.h"

namespace imgpack {

struct PhiloxBlock {
  std::uint32_t words[4];
};

IMGPACK_HD constexpr PhiloxBlock philox4x32(PhiloxBlock counter, std::uint64_t key) noexcept {
  constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
  constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
  auto key0 = static_cast<std::uint32_t>(key);
  auto key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{kMultiplier0} * counter.words[0];
    const std::uint64_t product1 = std::uint64_t{kMultiplier1} * counter.words[2];
    counter = {
        {static_cast<std::uint32_t>(product1 >> 32) ^ counter.words[1] ^ key0, static_cast<std::uint32_t>(product1),
         static_cast<std::uint32_t>(product0 >> 32) ^ counter.words[3] ^ key1, static_cast<std::uint32_t>(product0)}};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter;
}

}  // namespace imgpack
