// Systematic damage: every byte of a file changed, one at a time, and the file cut at every length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace imgpack::testing {

/// Calls `check(bytes, offset)` with one byte changed at a time: all its bits flipped, then only one (which depends on
/// the offset). `step` > 1 visits every step-th byte only.
void for_each_flip(std::span<const std::byte> file, std::size_t step,
                   const std::function<void(std::span<const std::byte>, std::size_t)>& check);

/// Calls `check(prefix)` with every proper prefix of the file, the empty one included.
void for_each_cut(std::span<const std::byte> file, std::size_t step,
                  const std::function<void(std::span<const std::byte>)>& check);

}  // namespace imgpack::testing
