// CRC-32C (Castagnoli; RFC 3720, section 12.1), as TFRecord frames carry it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace imgpack {

/// CRC-32C of what `crc` was computed over, followed by `data`. Start with 0. Uses the processor's CRC instruction
/// where it has one. Thread-safe.
std::uint32_t crc32c(std::uint32_t crc, std::span<const std::byte> data) noexcept;

/// The same from tables alone: for processors without the instruction.
std::uint32_t crc32c_portable(std::uint32_t crc, std::span<const std::byte> data) noexcept;

/// Whether crc32c() uses the processor's instruction here.
bool crc32c_is_accelerated() noexcept;

/// TFRecord stores CRCs rotated and offset, so that a CRC computed over data that embeds CRCs stays meaningful.
constexpr std::uint32_t mask_crc(std::uint32_t crc) noexcept {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

}  // namespace imgpack
