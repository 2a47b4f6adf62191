// Bounds-checked reading of outside bytes, and big-endian loads. Used by the parsers of image files.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace imgpack::headers {

using Bytes = std::span<const std::byte>;

/// REQUIRES: sizeof(T) bytes at `at`.
template <std::unsigned_integral T>
constexpr T load_be(const std::byte* at) noexcept {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(static_cast<std::uint64_t>(value) << 8 | static_cast<std::uint64_t>(at[i]));
  }
  return value;
}

inline std::uint8_t byte_at(Bytes bytes, std::size_t offset) noexcept {
  return static_cast<std::uint8_t>(bytes[offset]);
}

inline bool starts_with(Bytes bytes, std::string_view prefix) noexcept {
  return bytes.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), bytes.begin(),
                    [](char a, std::byte b) { return static_cast<std::byte>(a) == b; });
}

/// A position in a byte sequence that never passes its end.
class ByteReader {
 public:
  explicit ByteReader(Bytes bytes, std::size_t position = 0) noexcept
      : bytes_(bytes), position_(std::min(position, bytes.size())) {}

  std::size_t position() const noexcept { return position_; }
  std::size_t remaining() const noexcept { return bytes_.size() - position_; }

  std::optional<std::uint8_t> next() noexcept {
    if (remaining() == 0) return std::nullopt;
    return byte_at(bytes_, position_++);
  }
  /// The next `size` bytes, or nothing, without moving, if there are fewer.
  std::optional<Bytes> take(std::uint64_t size) noexcept {
    if (size > remaining()) return std::nullopt;
    return take_up_to(size);
  }
  Bytes take_up_to(std::uint64_t size) noexcept {
    const Bytes taken = bytes_.subspan(position_, static_cast<std::size_t>(std::min<std::uint64_t>(size, remaining())));
    position_ += taken.size();
    return taken;
  }

 private:
  Bytes bytes_;
  std::size_t position_;
};

}  // namespace imgpack::headers
