// MixUp and CutMix against their definition, and that ranks change nothing. What is drawn is
// compared with torchvision's distributions in augment_torchvision_test.py.
#include "reader/augment/batch_mixer.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "imgpack/error.h"
#include "reader/augment/half.h"
#include "reader/augment/mix_kernels.h"
#include "reader/augment/sample_maker.h"
#include "tests/support/each_target.h"
#include "tests/support/thrown.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace {

constexpr DType kDTypes[] = {DType::u8, DType::f32, DType::f16, DType::bf16};
using Bytes = std::vector<std::byte>;

float load(const Bytes& bytes, std::size_t index, DType dtype) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * size_of(dtype), size_of(dtype));
  if (dtype == DType::u8) return static_cast<float>(bits);
  if (dtype == DType::f32) return std::bit_cast<float>(bits);
  return dtype == DType::f16 ? from_float16(static_cast<std::uint16_t>(bits))
                             : from_bfloat16(static_cast<std::uint16_t>(bits));
}

void store(Bytes& bytes, std::size_t index, DType dtype, float value) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if (dtype == DType::u8) bits = static_cast<std::uint32_t>(std::nearbyint(value));
  if (dtype == DType::f16) bits = to_float16(value);
  if (dtype == DType::bf16) bits = to_bfloat16(value);
  std::memcpy(bytes.data() + index * size_of(dtype), &bits, size_of(dtype));
}

Bytes random_values(std::size_t count, DType dtype, std::mt19937& random) {
  Bytes bytes(count * size_of(dtype));
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < count; ++i) {
    store(bytes, i, dtype, dtype == DType::u8 ? static_cast<float>(random() % 256) : normal(random));
  }
  return bytes;
}

/// own * share + other * (1 - share), rounded after each operation.
float blended(float own, float other, double share) {
  volatile float product = own * static_cast<float>(share);
  volatile float rest = other * static_cast<float>(1.0 - share);
  return product + rest;
}

/// A whole global batch by the definition.
Bytes mixed(const Bytes& batch, const Mix& mix, DType dtype, Layout layout, ImageSize size, std::size_t count) {
  Bytes out = batch;
  const std::size_t values = std::size_t{size.height} * size.width * 3;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t other = (i + count - 1) % count;
    for (std::size_t v = 0; v < values; ++v) {
      const std::size_t pixel = layout == Layout::nhwc ? v / 3 : v % (std::size_t{size.height} * size.width);
      const std::size_t x = pixel % size.width;
      const std::size_t y = pixel / size.width;
      const float own_value = load(batch, i * values + v, dtype);
      const float other_value = load(batch, other * values + v, dtype);
      const Rect& box = mix.pasted;
      if (mix.kind == Mix::Kind::blend) {
        store(out, i * values + v, dtype, blended(own_value, other_value, mix.share));
      } else if (x >= box.x && x - box.x < box.width && y >= box.y && y - box.y < box.height) {
        store(out, i * values + v, dtype, other_value);
      }
    }
  }
  return out;
}

const Mix kMixes[] = {{Mix::Kind::blend, 0.3, {}},           {Mix::Kind::blend, 1, {}},
                      {Mix::Kind::paste, 0.5, {2, 1, 5, 4}}, {Mix::Kind::paste, 0, {0, 0, 11, 7}},
                      {Mix::Kind::paste, 1, {3, 3, 0, 0}},   {}};
constexpr ImageSize kSize = {7, 11};
constexpr std::size_t kValues = 7 * 11 * 3;

}  // namespace

TEST_CASE("mixed images do not depend on ranks") {
  std::mt19937 random(1);
  for (const DType dtype : kDTypes) {
    for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
      const BatchMixer mixer({MixUp{}}, dtype, layout, kSize, 10);
      const std::size_t bytes = kValues * size_of(dtype);
      for (const Mix& mix : kMixes) {
        for (const std::uint32_t count : {1U, 2U, 6U}) {
          const Bytes batch = random_values(kValues * count, dtype, random);
          const Bytes expected = mixed(batch, mix, dtype, layout, kSize, count);
          Bytes whole = batch;
          mixer.mix_images(mix, whole.data(), count, nullptr);
          REQUIRE(whole == expected);
          for (std::uint32_t split = 1; split < count; ++split) {
            Bytes ranks = batch;  // two of them: [0, split) and the rest
            mixer.mix_images(mix, ranks.data(), split, batch.data() + (count - 1) * bytes);
            mixer.mix_images(mix, ranks.data() + split * bytes, count - split, batch.data() + (split - 1) * bytes);
            REQUIRE(ranks == expected);
          }
        }
      }
    }
  }
}

TEST_CASE("every instruction set blends the same values") {
  for_each_target([] {
    std::mt19937 random(2);
    for (const DType dtype : kDTypes) {
      for (std::size_t count = 0; count < 150; ++count) {
        Bytes own = random_values(count, dtype, random);
        const Bytes other = random_values(count, dtype, random);
        const double share = static_cast<double>(random() % 1001) / 1000;
        Bytes expected = own;
        for (std::size_t i = 0; i < count; ++i) {
          store(expected, i, dtype, blended(load(own, i, dtype), load(other, i, dtype), share));
        }
        blend_values(dtype, own.data(), other.data(), count, static_cast<float>(share),
                     static_cast<float>(1.0 - share));
        REQUIRE(own == expected);
      }
    }
  });
}

TEST_CASE("soft labels") {
  const BatchMixer mixer({CutMix{}}, DType::u8, Layout::nhwc, kSize, 4);
  const std::vector<std::int64_t> labels = {1, 3, 3};
  std::vector<float> soft(12, -1);
  mixer.mix_labels({Mix::Kind::blend, 0.75, {}}, labels, 0, soft);
  CHECK(soft == std::vector<float>{0.25F, 0.75F, 0, 0, 0, 0.25F, 0, 0.75F, 0, 0, 0, 1});
  mixer.mix_labels({}, labels, kNoLabel, soft);
  CHECK(soft == std::vector<float>{0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1});
}

TEST_CASE("labels that are no classes are refused") {
  const BatchMixer mixer({MixUp{}}, DType::u8, Layout::nhwc, kSize, 4);
  std::vector<float> soft(4);
  const auto message = [&](std::int64_t label, std::int64_t previous) {
    try {
      mixer.mix_labels({Mix::Kind::blend, 0.5, {}}, std::span(&label, 1), previous, soft);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::invalid_argument);
      return error.message();
    }
    return std::string();
  };
  CHECK(message(3, 0) == "");
  CHECK(message(kNoLabel, 0).find("need labels") != std::string::npos);
  CHECK(message(0, kNoLabel).find("need labels") != std::string::npos);
  CHECK(message(4, 0).find("4 is not one of 4 classes") != std::string::npos);
  CHECK(message(0, -7).find("-7") != std::string::npos);
  CHECK_THROWS_AS(BatchMixer({MixUp{}}, DType::u8, Layout::nhwc, kSize, 0), Error);
}

TEST_CASE("a mix depends on key and step, and its probability is that of the list") {
  const BatchMixer mixer({MixUp{0.4, 0.5}}, DType::f32, Layout::nchw, kSize, 4);
  CHECK(mixer.draw(1, 2) == mixer.draw(1, 2));
  CHECK_FALSE(BatchMixer({MixUp{}}, DType::f32, Layout::nchw, kSize, 4).draw(1, 2) ==
              BatchMixer({MixUp{}}, DType::f32, Layout::nchw, kSize, 4).draw(1, 3));
  int none = 0;
  for (std::uint64_t step = 0; step < 2000; ++step) none += mixer.draw(1, step).kind == Mix::Kind::none ? 1 : 0;
  CHECK(none > 900);
  CHECK(none < 1100);
  const BatchMixer cut({CutMix{}}, DType::f32, Layout::nchw, kSize, 4);
  for (std::uint64_t step = 0; step < 2000; ++step) {
    const Mix mix = cut.draw(1, step);
    REQUIRE(mix.kind == Mix::Kind::paste);
    REQUIRE(mix.pasted.x + mix.pasted.width <= 11);
    REQUIRE(mix.pasted.y + mix.pasted.height <= 7);
    REQUIRE(mix.share == doctest::Approx(1 - mix.pasted.width * mix.pasted.height / 77.0));
  }
}

TEST_CASE("of MixUp and CutMix each batch draws one") {
  const BatchMixer mixer({MixUp{1}, CutMix{1}}, DType::f32, Layout::nchw, kSize, 4);
  int blends = 0;
  for (std::uint64_t step = 0; step < 1000; ++step) {
    const Mix mix = mixer.draw(1, step);
    CHECK(mix.kind != Mix::Kind::none);
    blends += mix.kind == Mix::Kind::blend ? 1 : 0;
  }
  CHECK(blends > 420);  // of 1000, 5 standard deviations
  CHECK(blends < 580);
}
