// What Pillow itself makes of the same requests is compared in resize_pillow_test.py; here the vector code is compared
// with the formula (fixed_point.h) applied to the tables, on every target that this program has and this CPU runs.
#include "codec/resize/resizer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <hwy/highway.h>
#include <hwy/targets.h>

#include "codec/resize/fixed_point.h"
#include "codec/resize/resample_axis.h"
#include "imgpack/error.h"

using namespace imgpack;

namespace {

constexpr std::array kAll = {Interpolation::nearest, Interpolation::box,     Interpolation::bilinear,
                             Interpolation::hamming, Interpolation::bicubic, Interpolation::lanczos};

/// Pixels in an allocation that ends with the last pixel, so that sanitizers see what reads on.
struct Image {
  Image(std::uint32_t width, std::uint32_t height, std::size_t padding = 0)
      : stride(width * std::size_t{3} + padding), size{width, height}, bytes(stride * (height - 1) + width * 3) {}

  ConstRgbView view() const { return {bytes.data(), size.width, size.height, stride}; }
  RgbView view() { return {bytes.data(), size.width, size.height, stride}; }
  std::vector<std::uint8_t> pixels() const {
    std::vector<std::uint8_t> out;
    for (std::uint32_t y = 0; y < size.height; ++y) {
      out.insert(out.end(), view().row(y), view().row(y) + size.width * std::size_t{3});
    }
    return out;
  }

  std::size_t stride;
  Size size;
  std::vector<std::uint8_t> bytes;
};

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t any() { return static_cast<std::uint32_t>(engine_()); }
  std::uint32_t below(std::uint32_t end) { return any() % end; }
  std::uint32_t up_to(std::uint32_t last) { return 1 + below(last); }
  float place(std::uint32_t end) { return std::uniform_real_distribution<float>(0, static_cast<float>(end))(engine_); }

 private:
  std::mt19937 engine_;
};

/// Noise, half of it black and white, which makes filters overshoot.
Image noise(std::uint32_t width, std::uint32_t height, std::uint32_t seed) {
  Image image(width, height, seed % 3);
  Random random(seed);
  for (std::uint8_t& byte : image.bytes) {
    const auto value = static_cast<std::uint8_t>(random.any());
    byte = seed % 2 == 0 ? value : value < 128 ? 0 : 255;
  }
  return image;
}

std::vector<std::uint8_t> resized(const Image& source, const Box& box, Interpolation interpolation, Size size) {
  Resizer resizer;
  Image out(size.width, size.height);
  resize(source.view(), box, interpolation, out.view(), resizer);
  CHECK(resizer.done());
  return out.pixels();
}

/// One row of pixels whose channels are equal.
Image gray_row(const std::vector<std::uint8_t>& values) {
  Image image(static_cast<std::uint32_t>(values.size()), 1);
  for (std::size_t i = 0; i < values.size() * 3; ++i) image.bytes[i] = values[i / 3];
  return image;
}

std::vector<std::uint8_t> resized_row(const std::vector<std::uint8_t>& values, Interpolation interpolation,
                                      std::uint32_t size) {
  const Image row = gray_row(values);
  const std::vector<std::uint8_t> pixels = resized(row, whole(row.size), interpolation, {size, 1});
  std::vector<std::uint8_t> out;
  for (std::size_t i = 0; i < pixels.size(); i += 3) out.push_back(pixels[i]);
  return out;
}

/// The formula, pixel by pixel.
std::vector<std::uint8_t> expected(const Image& source, const Box& box, Interpolation interpolation, Size size) {
  ResampleAxis columns;
  ResampleAxis rows;
  columns.compute({source.size.width, box.left, box.right, size.width, interpolation, 0, size.width});
  rows.compute({source.size.height, box.top, box.bottom, size.height, interpolation, 0, size.height});
  const auto value = [](const ResampleAxis& axis, std::uint32_t i, const std::uint8_t* from, std::size_t step) {
    const std::uint8_t* first = from + axis.first[i] * step;
    if (axis.is_copy) return *first;
    return resample_value(first, step, axis.weights.data() + std::size_t{i} * axis.stride, axis.count[i]);
  };
  Image middle(size.width, source.size.height);
  Image out(size.width, size.height);
  for (std::uint32_t y = 0; y < source.size.height; ++y) {
    for (std::uint32_t x = 0; x < size.width * 3; ++x) {
      middle.view().row(y)[x] = value(columns, x / 3, source.view().row(y) + x % 3, 3);
    }
  }
  for (std::uint32_t y = 0; y < size.height; ++y) {
    for (std::uint32_t x = 0; x < size.width * 3; ++x) {
      out.view().row(y)[x] = value(rows, y, middle.view().row(0) + x, middle.stride);
    }
  }
  return out.pixels();
}

/// Runs `test` on every target in turn.
template <typename Test>
void on_every_target(Test test) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    const std::string name = hwy::TargetName(target);
    MESSAGE("target " << name);
    CAPTURE(name);
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

Box random_box(Random& random, Size size) {
  if (random.below(3) == 0) return whole(size);
  const auto edges = [&](std::uint32_t side) {
    float begin = random.place(side);
    float end = random.place(side);
    if (begin > end) std::swap(begin, end);
    return begin < end ? std::pair(begin, end) : std::pair(0.0F, static_cast<float>(side));
  };
  const auto [left, right] = edges(size.width);
  const auto [top, bottom] = edges(size.height);
  return {left, top, right, bottom};
}

ErrorCode code_of(const ResizeOptions& options, RgbView out) {
  try {
    Resizer().start(options, out);
  } catch (const Error& error) {
    return error.code();
  }
  FAIL("start() took it");
  return {};
}

}  // namespace

TEST_CASE("values that can be worked out by hand") {
  using Values = std::vector<std::uint8_t>;
  CHECK(resized_row({0, 255}, Interpolation::box, 1) == Values{128});  // halves are rounded up
  CHECK(resized_row({1, 2, 10, 20}, Interpolation::box, 2) == Values{2, 15});
  CHECK(resized_row({0, 200}, Interpolation::bilinear, 4) == Values{0, 50, 150, 200});
  CHECK(resized_row({0, 0, 255, 255}, Interpolation::bicubic, 8) == Values{0, 0, 0, 52, 203, 255, 255, 255});
  CHECK(resized_row({10, 20, 30}, Interpolation::nearest, 2) == Values{10, 30});
  CHECK(resized_row({10, 20}, Interpolation::nearest, 5) == Values{10, 10, 20, 20, 20});
}

TEST_CASE("every target agrees with the formula, for every width and many others") {
  on_every_target([] {
    Random random(1);
    for (std::uint32_t width = 1; width <= 80; ++width) {
      for (const Interpolation interpolation : kAll) {
        const Image source = noise(width, random.up_to(12), random.any());
        const Size size = {random.up_to(90), random.up_to(12)};
        const Box box = random_box(random, source.size);
        CAPTURE(width);
        CAPTURE(to_string(interpolation));
        REQUIRE(resized(source, box, interpolation, size) == expected(source, box, interpolation, size));
      }
    }
    for (const Interpolation interpolation : kAll) {  // few and many taps, both ways
      const Image source = noise(700, 300, random.any());
      for (const Size size : {Size{1, 1}, Size{3, 301}, Size{701, 2}, Size{64, 64}, Size{224, 224}}) {
        CAPTURE(to_string(interpolation));
        REQUIRE(resized(source, whole(source.size), interpolation, size) ==
                expected(source, whole(source.size), interpolation, size));
      }
    }
  });
}

TEST_CASE("an image of one colour keeps it") {
  for (const Interpolation interpolation : kAll) {
    for (const std::uint32_t side : {1U, 2U, 5U, 31U, 100U}) {
      Image source(17, 23);
      std::fill(source.bytes.begin(), source.bytes.end(), std::uint8_t{201});
      const std::vector<std::uint8_t> result = resized(source, {0.3F, 1, 16.6F, 22.5F}, interpolation, {side, side});
      CHECK(std::all_of(result.begin(), result.end(), [](std::uint8_t value) { return value == 201; }));
    }
  }
}

TEST_CASE("a box that keeps its size is cut out as it is") {
  const Image source = noise(40, 30, 2);
  std::vector<std::uint8_t> cut;
  for (std::uint32_t y = 5; y < 25; ++y) {
    cut.insert(cut.end(), source.view().row(y) + 7 * 3, source.view().row(y) + 38 * 3);
  }
  for (const Interpolation interpolation : kAll) CHECK(resized(source, {7, 5, 38, 25}, interpolation, {31, 20}) == cut);
}

TEST_CASE("however rows are handed over, the result is the same, and comes as early as it can") {
  Random random(3);
  Resizer resizer;  // one for all: what it keeps must not show
  for (int round = 0; round < 600; ++round) {
    const Interpolation interpolation = kAll[random.below(kAll.size())];
    const Image source = noise(random.up_to(60), random.up_to(90), random.any());
    const Size size = {random.up_to(50), random.up_to(60)};
    const Box box = random_box(random, source.size);
    const std::vector<std::uint8_t> whole_result = resized(source, box, interpolation, size);
    Image out(size.width, size.height);
    resizer.start({source.size, box, interpolation}, out.view());
    const std::uint32_t first = random.below(2) == 0 ? 0 : resizer.first_row();
    for (std::uint32_t y = first; y < source.size.height;) {
      const std::uint32_t rows = std::min(random.below(12), source.size.height - y);
      resizer.take(y, {source.view().row(y), source.size.width, rows, source.stride});
      y += rows;
      REQUIRE(resizer.done() == (y >= resizer.end_row()));
    }
    REQUIRE(out.pixels() == whole_result);
  }
}

TEST_CASE("a part of a result is what the whole result has there") {
  Random random(6);
  Resizer resizer;
  for (int round = 0; round < 600; ++round) {
    const Interpolation interpolation = kAll[random.below(kAll.size())];
    const Image source = noise(random.up_to(60), random.up_to(60), random.any());
    const Size size = {random.up_to(70), random.up_to(70)};
    const Box box = random_box(random, source.size);
    const std::vector<std::uint8_t> all = resized(source, box, interpolation, size);
    const std::uint32_t left = random.below(size.width);
    const std::uint32_t top = random.below(size.height);
    Image part(random.up_to(size.width - left), random.up_to(size.height - top));
    resizer.start({source.size, box, interpolation, size, left, top}, part.view());
    resizer.take(0, {source.view().row(0), source.size.width, source.size.height, source.stride});
    REQUIRE(resizer.done());
    for (std::uint32_t y = 0; y < part.size.height; ++y) {
      const std::uint8_t* expected = all.data() + (std::size_t{top + y} * size.width + left) * 3;
      REQUIRE(std::equal(expected, expected + std::size_t{part.size.width} * 3, part.view().row(y)));
    }
  }
  Image part(3, 3);
  CHECK(code_of({{9, 9}, whole({9, 9}), Interpolation::box, {5, 5}, 3, 0}, part.view()) == ErrorCode::invalid_argument);
}

TEST_CASE("nothing outside the stated rows and columns matters") {
  Random random(4);
  for (int round = 0; round < 300; ++round) {
    const Interpolation interpolation = kAll[random.below(kAll.size())];
    Image source = noise(random.up_to(60), random.up_to(60), random.any());
    const Size size = {random.up_to(30), random.up_to(30)};
    const Box box = random_box(random, source.size);
    const std::vector<std::uint8_t> before = resized(source, box, interpolation, size);
    Resizer resizer;
    Image out(size.width, size.height);
    resizer.start({source.size, box, interpolation}, out.view());
    for (std::uint32_t y = 0; y < source.size.height; ++y) {
      for (std::uint32_t x = 0; x < source.size.width; ++x) {
        const bool inside = y >= resizer.first_row() && y < resizer.end_row() && x >= resizer.first_column() &&
                            x < resizer.end_column();
        if (!inside) source.view().row(y)[x * 3 + random.below(3)] ^= 0xFF;
      }
    }
    REQUIRE(resized(source, box, interpolation, size) == before);
  }
}

TEST_CASE("rows may be cut to the columns that are needed") {
  Random random(6);
  Resizer resizer;
  on_every_target([&] {
    for (int round = 0; round < 300; ++round) {
      const Interpolation interpolation = kAll[random.below(kAll.size())];
      const Image source = noise(random.up_to(60), random.up_to(60), random.any());
      const Size size = {random.up_to(70), random.up_to(70)};
      const Box box = random_box(random, source.size);
      const std::uint32_t left = random.below(size.width);
      const std::uint32_t top = random.below(size.height);
      Image expected(random.up_to(size.width - left), random.up_to(size.height - top));
      ResizeOptions options = {source.size, box, interpolation, size, left, top};
      resizer.start(options, expected.view());
      resizer.take(0, {source.view().row(0), source.size.width, source.size.height, source.stride});
      options.needed_columns_only = true;
      Image part(expected.size.width, expected.size.height);
      resizer.start(options, part.view());
      // Exactly as much memory as is needed: a sanitizer would notice more.
      Image needed(resizer.end_column() - resizer.first_column(), resizer.end_row() - resizer.first_row());
      for (std::uint32_t y = 0; y < needed.size.height; ++y) {
        const std::uint8_t* from = source.view().row(resizer.first_row() + y) + resizer.first_column() * 3;
        std::copy_n(from, needed.size.width * 3, needed.view().row(y));
      }
      resizer.take(resizer.first_row(), {needed.view().row(0), needed.size.width, needed.size.height, needed.stride});
      REQUIRE(resizer.done());
      REQUIRE(part.bytes == expected.bytes);
    }
  });
}

TEST_CASE("nothing is written between the rows of the result") {
  const Image source = noise(50, 40, 5);
  on_every_target([&] {
    for (const Interpolation interpolation : kAll) {
      for (std::uint32_t width = 1; width < 70; ++width) {
        Image out(width, 30, 5);
        std::fill(out.bytes.begin(), out.bytes.end(), std::uint8_t{77});
        Resizer resizer;
        resize(source.view(), whole(source.size), interpolation, out.view(), resizer);
        for (std::uint32_t y = 0; y + 1 < out.size.height; ++y) {
          const std::uint8_t* gap = out.view().row(y) + width * 3;
          REQUIRE(std::all_of(gap, gap + 5, [](std::uint8_t byte) { return byte == 77; }));
        }
      }
    }
  });
}

TEST_CASE("what makes no sense is refused") {
  Image out(4, 4);
  const auto code = [&](Size source, Box box) { return code_of({source, box, Interpolation::box}, out.view()); };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Box box : {Box{0, 0, 0, 5}, Box{0, 5, 5, 5}, Box{4, 0, 3, 5}, Box{-0.5F, 0, 5, 5}, Box{0, 0, 10.5F, 5},
                        Box{0, 0, 5, 8.5F}, Box{kNan, 0, 5, 5}, Box{0, 0, 5, kNan}, Box{0, 0, kInfinity, 5}}) {
    CHECK(code({10, 8}, box) == ErrorCode::invalid_argument);
  }
  CHECK(code({0, 8}, {0, 0, 1, 1}) == ErrorCode::invalid_argument);
  CHECK(code({8, kMaxResizeSide + 1}, {0, 0, 1, 1}) == ErrorCode::invalid_argument);
  CHECK(code_of({{8, 8}, {0, 0, 8, 8}, Interpolation::box}, {out.bytes.data(), 0, 4, 12}) ==
        ErrorCode::invalid_argument);

  const Image source = noise(10, 8, 6);
  Resizer resizer;
  resizer.start({source.size, whole(source.size), Interpolation::bilinear}, out.view());
  CHECK_THROWS_AS(resizer.take(1, {source.view().row(1), 10, 1, source.stride}), Error);  // row 0 is missing
  CHECK_THROWS_AS(resizer.take(0, {source.view().row(0), 9, 1, source.stride}), Error);   // another width
  CHECK_FALSE(resizer.done());
}
