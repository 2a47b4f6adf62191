#include "formats/tfrecord/crc32c.h"

#include <array>
#include <bit>

#include "mmap/little_endian.h"

namespace imgpack {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // reflected

using Table = std::array<std::uint32_t, 256>;

// kTables[k][b]: what byte b contributes after k more bytes have gone through the register ("slicing by 8").
constexpr std::array<Table, 8> make_tables() {
  std::array<Table, 8> tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][b] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::size_t b = 0; b < 256; ++b) tables[k][b] = (tables[k - 1][b] >> 8) ^ tables[0][tables[k - 1][b] & 0xff];
  return tables;
}
constexpr std::array<Table, 8> kTables = make_tables();

constexpr std::uint32_t step(std::uint32_t crc, std::uint8_t byte) noexcept {
  return (crc >> 8) ^ kTables[0][(crc ^ byte) & 0xff];
}

// Works on the bare register: no inversion before or after.
std::uint32_t update_portable(std::uint32_t crc, const std::byte* at, std::size_t size) noexcept {
  for (; size >= 8; size -= 8, at += 8) {
    const std::uint64_t word = load_le<std::uint64_t>(at) ^ crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; size > 0; --size, ++at) crc = step(crc, std::to_integer<std::uint8_t>(*at));
  return crc;
}

#if defined(__x86_64__) && defined(__GNUC__)

// The instruction has a latency of three cycles and a throughput of one: three independent streams keep it busy. Each
// stream runs over a block of kBlock bytes; the registers are joined by advancing the earlier ones over the zeros that
// stand for the later blocks. The register is linear over GF(2), so advancing is four table look-ups.
constexpr std::size_t kBlock = 2048;

class ZeroBlock {
 public:
  ZeroBlock() noexcept {
    for (std::uint32_t bit = 0; bit < 32; ++bit) {
      std::uint32_t crc = std::uint32_t{1} << bit;
      for (std::size_t i = 0; i < kBlock; ++i) crc = step(crc, 0);
      images_[bit] = crc;
    }
    for (std::size_t k = 0; k < 4; ++k)
      for (std::uint32_t b = 0; b < 256; ++b)
        for (std::uint32_t bit = 0; bit < 8; ++bit)
          if ((b >> bit & 1) != 0) tables_[k][b] ^= images_[8 * k + bit];
  }
  std::uint32_t advance(std::uint32_t crc) const noexcept {
    return tables_[0][crc & 0xff] ^ tables_[1][crc >> 8 & 0xff] ^ tables_[2][crc >> 16 & 0xff] ^ tables_[3][crc >> 24];
  }

 private:
  std::array<std::uint32_t, 32> images_{};
  std::array<Table, 4> tables_{};
};

const ZeroBlock& zero_block() noexcept {
  static const ZeroBlock block;
  return block;
}

__attribute__((target("sse4.2"))) std::uint32_t update_sse42(std::uint32_t crc, const std::byte* at,
                                                             std::size_t size) noexcept {
  if (size >= 3 * kBlock) {
    const ZeroBlock& zeros = zero_block();
    for (; size >= 3 * kBlock; size -= 3 * kBlock, at += 3 * kBlock) {
      std::uint64_t a = crc, b = 0, c = 0;
      for (std::size_t i = 0; i < kBlock; i += 8) {
        a = __builtin_ia32_crc32di(a, load_le<std::uint64_t>(at + i));
        b = __builtin_ia32_crc32di(b, load_le<std::uint64_t>(at + kBlock + i));
        c = __builtin_ia32_crc32di(c, load_le<std::uint64_t>(at + 2 * kBlock + i));
      }
      crc = zeros.advance(static_cast<std::uint32_t>(a)) ^ static_cast<std::uint32_t>(b);
      crc = zeros.advance(crc) ^ static_cast<std::uint32_t>(c);
    }
  }
  std::uint64_t wide = crc;
  for (; size >= 8; size -= 8, at += 8) wide = __builtin_ia32_crc32di(wide, load_le<std::uint64_t>(at));
  crc = static_cast<std::uint32_t>(wide);
  for (; size > 0; --size, ++at) crc = __builtin_ia32_crc32qi(crc, std::to_integer<std::uint8_t>(*at));
  return crc;
}

bool have_instruction() noexcept {
  static const bool have = __builtin_cpu_supports("sse4.2") != 0;
  return have;
}

std::uint32_t update(std::uint32_t crc, const std::byte* at, std::size_t size) noexcept {
  return have_instruction() ? update_sse42(crc, at, size) : update_portable(crc, at, size);
}

#else

bool have_instruction() noexcept {
  return false;
}

std::uint32_t update(std::uint32_t crc, const std::byte* at, std::size_t size) noexcept {
  return update_portable(crc, at, size);
}

#endif

}  // namespace

std::uint32_t crc32c(std::uint32_t crc, std::span<const std::byte> data) noexcept {
  return ~update(~crc, data.data(), data.size());
}

std::uint32_t crc32c_portable(std::uint32_t crc, std::span<const std::byte> data) noexcept {
  return ~update_portable(~crc, data.data(), data.size());
}

bool crc32c_is_accelerated() noexcept {
  return have_instruction();
}

}  // namespace imgpack
