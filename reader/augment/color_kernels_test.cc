// The vector kernels against the plain ones, for each instruction set of this processor. The plain ones and hue are
// compared with Pillow in augment_torchvision_test.py.
#include "reader/augment/color_kernels.h"

#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "reader/augment/plain_color.h"
#include "tests/support/each_target.h"

using namespace imgpack;
using namespace imgpack::testing;

TEST_CASE("rows of any width") {
  for_each_target([] {
    std::mt19937 random(3);
    for (std::size_t width = 0; width < 200; ++width) {
      std::vector<std::uint8_t> row(width * 3);
      for (std::uint8_t& value : row) value = static_cast<std::uint8_t>(random() % 4 == 0 ? 255 : random());
      REQUIRE(sum_luma(row.data(), width) == plain::sum_luma(row.data(), width));

      std::vector<std::uint8_t> got = row;
      std::vector<std::uint8_t> expected = row;
      gray_row(got.data(), width);
      plain::gray_row(expected.data(), width);
      REQUIRE(got == expected);
      for (const float factor : {0.0F, 0.3F, 0.99F, 1.01F, 1.7F, 30.0F}) {
        got = expected = row;
        saturate_row(got.data(), width, factor);
        plain::saturate_row(expected.data(), width, factor);
        REQUIRE(got == expected);
        const int from = static_cast<int>(random() % 256);
        got = expected = row;
        blend_row_with(got.data(), got.size(), from, factor);
        plain::blend_row_with(expected.data(), expected.size(), from, factor);
        REQUIRE(got == expected);
      }
    }
  });
}

TEST_CASE("sums of the widest rows do not overflow") {
  const std::size_t width = (std::size_t{1} << 23) - 1;
  const std::vector<std::uint8_t> white(width * 3, 255);
  for_each_target([&] { CHECK(sum_luma(white.data(), width) == 255 * width); });
}
