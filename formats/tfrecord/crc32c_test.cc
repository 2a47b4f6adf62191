#include "formats/tfrecord/crc32c.h"

#include <algorithm>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/files.h"

namespace imgpack {
namespace {

using testing::as_bytes;

std::vector<std::byte> filled(std::size_t size, auto value_at) {
  std::vector<std::byte> out(size);
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::byte>(value_at(i));
  return out;
}

void check_both(std::span<const std::byte> data, std::uint32_t expected) {
  CHECK(crc32c(0, data) == expected);
  CHECK(crc32c_portable(0, data) == expected);
}

TEST_CASE("CRC-32C: the examples of RFC 3720, B.4") {
  check_both(filled(32, [](std::size_t) { return 0x00; }), 0x8a9136aa);
  check_both(filled(32, [](std::size_t) { return 0xff; }), 0x62a8ab43);
  check_both(filled(32, [](std::size_t i) { return i; }), 0x46dd794e);
  check_both(filled(32, [](std::size_t i) { return 31 - i; }), 0x113fdb5c);
  const unsigned char read_command[48] = {0x01, 0xc0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0,    0, 0, 0, 0,
                                          0x14, 0,    0, 0, 0, 0, 4, 0, 0,    0, 0, 0x14, 0, 0, 0, 0x18,
                                          0x28, 0,    0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0,    0, 0, 0, 0};
  check_both(std::as_bytes(std::span(read_command)), 0xd9963a56);
}

TEST_CASE("CRC-32C: the check value of the catalogue, and nothing") {
  check_both(as_bytes("123456789"), 0xe3069283);
  check_both({}, 0);
}

TEST_CASE("CRC-32C: instruction and tables agree at every length and alignment") {
  std::mt19937 random(7);
  const std::vector<std::byte> data = filled(40'000, [&](std::size_t) { return random(); });
  const std::span<const std::byte> all(data);
  for (std::size_t size = 0; size < 200; ++size)
    for (std::size_t start = 0; start < 9; ++start)
      REQUIRE(crc32c(5, all.subspan(start, size)) == crc32c_portable(5, all.subspan(start, size)));
  for (const std::size_t size : {2047u, 2048u, 6143u, 6144u, 6145u, 12'288u, 12'300u, 39'990u})
    for (std::size_t start = 0; start < 9; ++start)
      REQUIRE(crc32c(99, all.subspan(start, size)) == crc32c_portable(99, all.subspan(start, size)));
}

TEST_CASE("CRC-32C: pieces give the same as the whole") {
  std::mt19937 random(8);
  const std::vector<std::byte> data = filled(30'000, [&](std::size_t) { return random(); });
  const std::span<const std::byte> all(data);
  const std::uint32_t whole = crc32c(0, all);
  for (int round = 0; round < 50; ++round) {
    std::uint32_t crc = 0;
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t size = std::min<std::size_t>(random() % 9000, all.size() - at);
      crc = crc32c(crc, all.subspan(at, size));
      at += size;
    }
    REQUIRE(crc == whole);
  }
}

TEST_CASE("CRC-32C: the mask of TFRecord") {
  // The first eight bytes of every TFRecord whose first record is empty, as TensorFlow writes them, are zeros, and the
  // masked CRC of those follows: 29 03 98 07.
  const std::byte zeros[8] = {};
  CHECK(mask_crc(crc32c(0, zeros)) == 0x07980329);
}

}  // namespace
}  // namespace imgpack
