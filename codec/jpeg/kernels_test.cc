// The vector kernels against the plain ones, for each instruction set of this processor, and the plain ones against the
// libjpeg-turbo that is linked.
#include "codec/jpeg/kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include <hwy/highway.h>

#include "codec/jpeg/jpeg_test_support.h"
#include "codec/jpeg/plain_kernels.h"

using namespace imgpack;
using namespace imgpack::jpeg;
using namespace imgpack::jpeg::testing;

namespace {

/// Runs `check` once for each instruction set that kernels.cc is compiled for and this processor has.
void for_each_target(const std::function<void()>& check) {
  int targets = 0;
  for (std::int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    CAPTURE(hwy::TargetName(target));
    check();
    ++targets;
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  CHECK(targets > 0);
}

/// Coefficients of a kind that depends on the seed: sparse, dense, and of any 16 bits.
std::array<std::int16_t, kBlockCoefficients> random_block(Random& random) {
  std::array<std::int16_t, kBlockCoefficients> block{};
  constexpr std::int16_t kExtremes[] = {-32768, 32767, -32767, 16384, -16384, 8191, -8192, 1, -1};
  const std::uint32_t kind = random() % 8;
  const std::uint32_t count = kind < 4 ? random() % 6 : kBlockCoefficients;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t k = kind < 4 ? random() % (kind == 0 ? 8 : kBlockCoefficients) : i;
    const std::uint32_t bits = random();
    switch (kind) {
      case 1:
      case 4:
        block[k] = static_cast<std::int16_t>(bits);
        break;
      case 2:
      case 5:
        block[k] = kExtremes[bits % std::size(kExtremes)];
        break;
      case 6:
        block[k] = static_cast<std::int16_t>(static_cast<std::int32_t>(bits % 4096) - 2048);
        break;
      default:
        block[k] = static_cast<std::int16_t>(static_cast<std::int32_t>(bits % 512) - 256);
    }
  }
  return block;
}

/// A row with kRowSlack bytes before and behind it.
struct Row {
  explicit Row(std::size_t size) : bytes(size + 2 * kRowSlack) {}
  Row(std::size_t size, Random& random) : Row(size) {
    const bool extreme = random() % 3 == 0;
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(extreme ? random() % 2 * 255 : random());
  }
  std::uint8_t* data() { return bytes.data() + kRowSlack; }
  bool starts_like(const Row& other, std::size_t count) const {
    const auto begin = bytes.begin() + kRowSlack;
    return std::equal(begin, begin + static_cast<std::ptrdiff_t>(count), other.bytes.begin() + kRowSlack);
  }
  std::vector<std::uint8_t> bytes;
};

const std::size_t kCounts[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 255, 1000};

}  // namespace

TEST_CASE("the inverse DCT is the same for each instruction set") {
  for_each_target([] {
    Random random(7);
    bool same = true;
    for (int i = 0; i < 40000; ++i) {
      alignas(64) std::int16_t pair[8 * kPairStride];
      for (std::size_t b = 0; b < kPair; ++b) {
        const auto block = random_block(random);
        for (std::size_t k = 0; k < kBlockCoefficients; ++k) pair[k / 8 * kPairStride + b * 8 + k % 8] = block[k];
      }
      std::uint8_t fast[2][80] = {};
      std::uint8_t plain[2][80] = {};
      inverse_dct_pair(pair, {{fast[0], 8}, {fast[1], 10}});
      plain::inverse_dct_pair(pair, {{plain[0], 8}, {plain[1], 10}});
      same = same && std::equal(fast[0], fast[0] + 160, plain[0]);
    }
    CHECK(same);
  });
}

TEST_CASE("upsampling is the same for each instruction set") {
  for_each_target([] {
    Random random(8);
    for (const std::size_t count : kCounts) {
      for (int i = 0; i < 20; ++i) {
        Row near(count, random);
        Row far(count, random);
        Row fast(2 * count);
        Row plain(2 * count);
        upsample_row_h2(near.data(), count, fast.data());
        plain::upsample_row_h2(near.data(), count, plain.data());
        CHECK(fast.starts_like(plain, 2 * count));
        upsample_row_h2v2(near.data(), far.data(), count, fast.data());
        plain::upsample_row_h2v2(near.data(), far.data(), count, plain.data());
        CHECK(fast.starts_like(plain, 2 * count));
        upsample_row_v2(near.data(), far.data(), i % 2 == 0, count, fast.data());
        plain::upsample_row_v2(near.data(), far.data(), i % 2 == 0, count, plain.data());
        CHECK(fast.starts_like(plain, count));
      }
    }
  });
}

TEST_CASE("samples are repeated as often as asked") {
  Random random(9);
  for (const std::size_t times : {1, 2, 3, 4}) {
    Row in(33, random);
    Row out(33 * times);
    replicate_row(in.data(), times, 33, out.data());
    for (std::size_t i = 0; i < 33 * times; ++i) CHECK(out.data()[i] == in.data()[i / times]);
  }
}

TEST_CASE("interleaving writes exactly the pixels that are asked for") {
  for_each_target([] {
    Random random(10);
    for (const std::size_t count : kCounts) {
      Row r(count, random);
      Row g(count, random);
      Row b(count, random);
      Row fast(3 * count, random);
      Row plain = fast;
      interleave_row(r.data(), g.data(), b.data(), count, fast.data());
      plain::interleave_row(r.data(), g.data(), b.data(), count, plain.data());
      CHECK(fast.bytes == plain.bytes);
      ycc_row_to_rgb(r.data(), g.data(), b.data(), count, fast.data());
      plain::ycc_row_to_rgb(r.data(), g.data(), b.data(), count, plain.data());
      CHECK(fast.bytes == plain.bytes);
    }
  });
}

TEST_CASE("colour conversion is the same for each instruction set and all 2^24 colours") {
  constexpr std::size_t kRow = 65536;  // all pairs of Cb and Cr
  Row y(kRow);
  Row cb(kRow);
  Row cr(kRow);
  for (std::size_t i = 0; i < kRow; ++i) {
    cb.data()[i] = static_cast<std::uint8_t>(i >> 8);
    cr.data()[i] = static_cast<std::uint8_t>(i);
  }
  std::vector<Row> expected;
  for (int luma = 0; luma < 256; ++luma) {
    std::fill_n(y.data(), kRow, static_cast<std::uint8_t>(luma));
    plain::ycc_row_to_rgb(y.data(), cb.data(), cr.data(), kRow, expected.emplace_back(3 * kRow).data());
  }
  for_each_target([&] {
    Row fast(3 * kRow);
    for (std::size_t luma = 0; luma < 256; ++luma) {
      std::fill_n(y.data(), kRow, static_cast<std::uint8_t>(luma));
      ycc_row_to_rgb(y.data(), cb.data(), cr.data(), kRow, fast.data());
      CHECK(fast.starts_like(expected[luma], 3 * kRow));
    }
  });
}

TEST_CASE("colour conversion is libjpeg-turbo's") {
  // Blocks of one value each, decoded to a pixel a block.
  std::array<std::uint16_t, kBlockCoefficients> quant;
  quant.fill(8);  // so that a sample is 128 + the DC coefficient
  for (const int luma : {0, 1, 2, 63, 100, 127, 128, 129, 200, 254, 255}) {
    CAPTURE(luma);
    const Bytes file = write_coefficients(
        3, 256, 256, quant, [luma](int c, std::uint32_t x, std::uint32_t y, std::span<std::int16_t> block) {
          const int sample = c == 0 ? luma : static_cast<int>(c == 1 ? y : x);
          block[0] = static_cast<std::int16_t>(sample - 128);
        });
    const Reference reference = decode_eighth(file);
    REQUIRE(reference.ok);
    REQUIRE(reference.size == Size{256, 256});
    bool same = true;
    for (std::uint32_t i = 0; i < 65536; ++i) {
      const Rgb rgb =
          ycc_to_rgb(static_cast<std::uint8_t>(luma), static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i));
      const std::uint8_t* pixel = reference.pixels.data() + std::size_t{3} * i;
      same = same && rgb.r == pixel[0] && rgb.g == pixel[1] && rgb.b == pixel[2];
    }
    CHECK(same);
  }
}

TEST_CASE("the inverse DCT is libjpeg-turbo's, overflowing coefficients included") {
  constexpr std::uint32_t kSide = 32;  // blocks
  Random random(11);
  for (int round = 0; round < 100; ++round) {
    CAPTURE(round);
    std::array<std::uint16_t, kBlockCoefficients> quant;
    for (std::uint16_t& value : quant) {
      // Products of large values wrap, so that any 16 bits come about.
      value = static_cast<std::uint16_t>(round % 3 == 0 ? 1 + random() % 16 : 1 + random() % 65535);
    }
    std::vector<std::array<std::int16_t, kBlockCoefficients>> dequantised(kSide * kSide);
    const Bytes file = write_coefficients(
        1, kSide, kSide, quant, [&](int, std::uint32_t x, std::uint32_t y, std::span<std::int16_t> block) {
          const auto values = random_block(random);
          for (std::size_t k = 0; k < kBlockCoefficients; ++k) {
            block[k] = static_cast<std::int16_t>(std::clamp<int>(values[k], -1023, 1023));
            if (round % 2 == 1 && k >= 8) block[k] = 0;  // nothing below the first row: handled by another way
            dequantised[y * kSide + x][k] = static_cast<std::int16_t>(block[k] * quant[k]);
          }
        });
    const Reference reference = decode_gray(file);
    REQUIRE(reference.ok);
    CHECK(reference.warnings == 0);
    bool same = true;
    for (std::uint32_t i = 0; i < kSide * kSide; ++i) {
      std::uint8_t samples[kBlockCoefficients];
      inverse_dct(dequantised[i].data(), 8, samples, 8);
      const std::uint8_t* expected = reference.pixels.data() + (i / kSide * kSide * 8 + i % kSide) * 8;
      for (std::size_t y = 0; y < 8; ++y) {
        same = same && std::equal(samples + y * 8, samples + y * 8 + 8, expected + y * kSide * 8);
      }
    }
    CHECK(same);
  }
}

TEST_CASE("a block with nothing but a DC coefficient has one value") {
  bool same = true;
  for (int dc = -32768; dc <= 32767; ++dc) {
    std::int16_t block[kBlockCoefficients] = {static_cast<std::int16_t>(dc)};
    std::uint8_t samples[kBlockCoefficients];
    inverse_dct(block, 8, samples, 8);
    const std::uint8_t expected = idct_dc_only(static_cast<std::int16_t>(dc));
    same = same && std::ranges::all_of(samples, [expected](std::uint8_t sample) { return sample == expected; });
  }
  CHECK(same);
}
