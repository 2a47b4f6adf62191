// Rows of pixels as values of a batch: what torch computes, for each instruction set of this processor.
#include "reader/augment/pixel_converter.h"

#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "reader/augment/half.h"
#include "tests/support/each_target.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace {

constexpr DType kDTypes[] = {DType::u8, DType::f32, DType::f16, DType::bf16};

/// One value, as bits, without any trick.
std::uint32_t expected_value(std::uint8_t value, std::size_t channel, const PixelFormat& format) {
  if (format.dtype == DType::u8) return value;
  volatile float result = static_cast<float>(value) / 255.0F;  // rounded after each operation
  if (format.normalize) {
    result = result - format.normalize->mean[channel];
    result = result / format.normalize->std[channel];
  }
  if (format.dtype == DType::f16) return to_float16(result);
  if (format.dtype == DType::bf16) return to_bfloat16(result);
  return std::bit_cast<std::uint32_t>(static_cast<float>(result));
}

std::vector<std::byte> expected_image(const std::vector<std::uint8_t>& rgb, Size size, bool flip,
                                      const PixelFormat& format) {
  const std::size_t bytes = size_of(format.dtype);
  std::vector<std::byte> out(rgb.size() * bytes);
  for (std::size_t y = 0; y < size.height; ++y) {
    for (std::size_t x = 0; x < size.width; ++x) {
      const std::size_t from = y * size.width + (flip ? size.width - 1 - x : x);
      for (std::size_t c = 0; c < 3; ++c) {
        const std::uint32_t bits = expected_value(rgb[from * 3 + c], c, format);
        const std::size_t to =
            format.layout == Layout::nhwc ? (y * size.width + x) * 3 + c : (c * size.height + y) * size.width + x;
        std::memcpy(out.data() + to * bytes, &bits, bytes);
      }
    }
  }
  return out;
}

std::vector<std::byte> converted(const std::vector<std::uint8_t>& rgb, Size size, bool flip,
                                 const PixelFormat& format) {
  PixelConverter converter(format);
  constexpr std::size_t kGuard = 64;
  std::vector<std::byte> out(rgb.size() * size_of(format.dtype) + kGuard, std::byte{0x5A});
  for (std::uint32_t y = 0; y < size.height; ++y) {
    // A row of its own, so that a sanitizer notices reading beyond it.
    const std::vector<std::uint8_t> row(rgb.begin() + y * size.width * 3, rgb.begin() + (y + 1) * size.width * 3);
    converter.convert_row(row.data(), size, y, flip, out.data());
  }
  for (std::size_t i = out.size() - kGuard; i < out.size(); ++i) REQUIRE(out[i] == std::byte{0x5A});
  out.resize(out.size() - kGuard);
  return out;
}

/// All values of all channels, and then anything.
std::vector<std::uint8_t> pixels_of(Size size, std::mt19937& random) {
  std::vector<std::uint8_t> rgb(std::size_t{size.width} * size.height * 3);
  for (std::size_t i = 0; i < rgb.size(); ++i) {
    rgb[i] = static_cast<std::uint8_t>(i < 768 ? i / 3 : random());
  }
  return rgb;
}

}  // namespace

TEST_CASE("every dtype, layout, direction and width") {
  for_each_target([] {
    std::mt19937 random(1);
    for (const DType dtype : kDTypes) {
      for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
        for (const bool flip : {false, true}) {
          for (std::uint32_t width = 1; width < 150; width += width < 70 ? 1 : 13) {
            CAPTURE(to_string(dtype));
            CAPTURE(to_string(layout));
            CAPTURE(flip);
            CAPTURE(width);
            const Size size = {width, 3};
            PixelFormat format{dtype, layout};
            if (dtype != DType::u8 && width % 2 == 0) format.normalize = Normalize::imagenet();
            const std::vector<std::uint8_t> rgb = pixels_of(size, random);
            REQUIRE(converted(rgb, size, flip, format) == expected_image(rgb, size, flip, format));
          }
        }
      }
    }
  });
}

TEST_CASE("any mean and deviation give what divisions give") {
  for_each_target([] {
    std::mt19937 random(2);
    std::uniform_real_distribution<float> mean(-2, 2);
    std::uniform_real_distribution<float> exponent(-12, 12);
    for (int round = 0; round < 300; ++round) {
      Normalize normalize;
      for (std::size_t c = 0; c < 3; ++c) {
        normalize.mean[c] = round % 5 == 0 ? 0 : mean(random);
        normalize.std[c] = std::exp2(exponent(random)) * (random() % 2 == 0 ? 1.0F : -1.0F);
      }
      if (round == 1) normalize.std = {1e-40F, 1e30F, 3e38F};          // reciprocals that overflow or lose digits
      if (round == 2) normalize = {{0.2F, 0.4F, 1.0F}, {-1, -1, -1}};  // a mean that some value hits: -0
      const Size size = {256, 1};
      const std::vector<std::uint8_t> rgb = pixels_of(size, random);
      for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
          const PixelFormat format{dtype, layout, normalize};
          REQUIRE(converted(rgb, size, false, format) == expected_image(rgb, size, false, format));
        }
      }
    }
  });
}
