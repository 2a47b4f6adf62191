// Bits of entropy-coded data: byte stuffing is taken out, a marker or the end reads as zeros. For host and device.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "codec/host_device.h"

namespace imgpack::jpeg {

/// Reads [0, end) of `data`. Never touches a byte outside.
class BitReader {
 public:
  BitReader() = default;
  /// Begins at bit `bit` (0 is the highest) of byte `position`. REQUIRES: position <= end, bit < 8.
  IMGPACK_HD BitReader(const std::uint8_t* data, std::uint32_t position, std::uint32_t bit, std::uint32_t end)
      : data_(data), position_(position), end_(end) {
    refill();
    consume(bit);
  }

  /// Makes at least kRefilled bits available; they are the highest of bits(). REQUIRES: fewer than 64 are, that is, a
  /// bit was consumed since the last time.
  static constexpr int kRefilled = 56;
  IMGPACK_HD void refill() {
    if (end_ - position_ >= 8) {
      const std::uint64_t next = load_8();
      const std::uint64_t absent = ~next;
      const bool has_ff = ((absent - 0x0101010101010101u) & next & 0x8080808080808080u) != 0;
      if (!has_ff) {
        // What is taken of a byte in part now is taken again, as the same bits, next time.
        bits_ |= next >> count_;
        position_ += static_cast<std::uint32_t>(63 - count_) >> 3;
        count_ |= 56;
        return;
      }
    }
    *this = refilled_slowly(*this);
  }
  IMGPACK_HD void refill_below(int count) {
    if (count_ < count) refill();
  }

  IMGPACK_HD std::uint64_t bits() const { return bits_; }
  /// REQUIRES: 0 < count < 64.
  IMGPACK_HD std::uint32_t peek(std::uint32_t count) const { return static_cast<std::uint32_t>(bits_ >> (64 - count)); }
  /// REQUIRES: count bits are available.
  IMGPACK_HD void consume(std::uint32_t count) {
    bits_ <<= count;
    count_ -= static_cast<int>(count);
  }

  /// Whether more bits were consumed than there are.
  IMGPACK_HD bool overran() const { return count_ < made_up_; }

  /// Where the next bit lies: byte * 8 + bit, counting stuffed bytes; a stuffing zero is never named.
  IMGPACK_HD std::uint32_t bit_position() const {
    std::uint32_t position = position_;
    const int real = count_ - made_up_;
    for (int bytes = (real + 7) >> 3; bytes > 0; --bytes) {
      --position;
      if (data_[position] == 0 && position > 0 && data_[position - 1] == 0xff) --position;
    }
    return position * 8 + (static_cast<std::uint32_t>(-real) & 7);
  }

  /// Drops the rest of the byte and goes behind the restart marker that must follow (fill bytes may come before it).
  /// False if something else comes, or other whole bytes lie before it. T.81 E.2.4.
  IMGPACK_HD bool take_restart_marker(std::uint32_t number) {
    refill_below(kRefilled);
    if (overran() || count_ - made_up_ >= 8) return false;
    while (position_ < end_ && end_ - position_ >= 2 && data_[position_] == 0xff && data_[position_ + 1] == 0xff) {
      ++position_;
    }
    if (end_ - position_ < 2 || data_[position_] != 0xff || data_[position_ + 1] != 0xd0 + (number & 7)) return false;
    position_ += 2;
    bits_ = 0;
    count_ = 0;
    made_up_ = 0;
    return true;
  }

 private:
  IMGPACK_HD std::uint64_t load_8() const {
#if defined(__CUDA_ARCH__)
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; i < 8; ++i) value = value << 8 | data_[position_ + i];
    return value;
#else
    std::uint64_t value;
    std::memcpy(&value, data_ + position_, sizeof(value));
    if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap64(value);
    return value;
#endif
  }

  /// Byte by byte. By value and out of line, so that a reader in a loop stays in registers.
  IMGPACK_COLD IMGPACK_HD static BitReader refilled_slowly(BitReader reader) {
    while (reader.count_ <= 56) {
      const std::uint32_t left = reader.end_ - reader.position_;
      const std::uint8_t* next = reader.data_ + reader.position_;
      if (left >= 1 && *next != 0xff) {
        reader.bits_ |= static_cast<std::uint64_t>(*next) << (56 - reader.count_);
        ++reader.position_;
      } else if (left >= 2 && next[1] == 0) {
        reader.bits_ |= std::uint64_t{0xff} << (56 - reader.count_);
        reader.position_ += 2;
      } else {
        reader.made_up_ += 8;
      }
      reader.count_ += 8;
    }
    return reader;
  }

  const std::uint8_t* data_ = nullptr;
  std::uint32_t position_ = 0;  ///< of the next byte to be taken
  std::uint32_t end_ = 0;
  std::uint64_t bits_ = 0;  ///< left-aligned
  int count_ = 0;           ///< valid ones among them
  int made_up_ = 0;         ///< how many of the last valid ones are beyond a marker or the end
};

}  // namespace imgpack::jpeg
