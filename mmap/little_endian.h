// Little-endian integers in byte sequences, without alignment demands. No structs are ever copied to or from disk.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace imgpack {

static_assert(std::endian::native == std::endian::little,
              "imgpack's loads and stores are written for little-endian machines");

/// REQUIRES: sizeof(T) bytes at `at`.
template <std::integral T>
T load_le(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// REQUIRES: room for sizeof(T) bytes at `at`.
template <std::integral T>
void store_le(std::byte* at, T value) noexcept {
  std::memcpy(at, &value, sizeof value);
}

template <std::integral T>
void append_le(std::vector<std::byte>& out, T value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  store_le(out.data() + at, value);
}

}  // namespace imgpack
