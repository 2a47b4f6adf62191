// Reads little-endian values from a span, never beyond its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "mmap/little_endian.h"

namespace imgpack {

/// After a read that does not fit, ok() is false and every further read gives zeros and empty spans.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  template <std::integral T>
  T read() noexcept {
    const std::span<const std::byte> part = take(sizeof(T));
    return part.size() == sizeof(T) ? load_le<T>(part.data()) : T{};
  }

  std::span<const std::byte> take(std::uint64_t size) noexcept {
    if (!ok_ || size > bytes_.size()) {
      ok_ = false;
      return {};
    }
    const std::span<const std::byte> part = bytes_.first(static_cast<std::size_t>(size));
    bytes_ = bytes_.subspan(static_cast<std::size_t>(size));
    return part;
  }

  std::string_view take_text(std::uint64_t size) noexcept {
    const std::span<const std::byte> part = take(size);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }

  bool ok() const noexcept { return ok_; }
  std::size_t remaining() const noexcept { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

}  // namespace imgpack
