// MixUp and CutMix on the device against those of the host.
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include <doctest/doctest.h>

#include "reader/augment/half.h"
#include "reader/gpu/kernels/mix_images.h"
#include "tests/gpu/device_copies.h"
#include "tests/gpu/pixel_cases.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace {

using Bytes = std::vector<std::byte>;

/// Numbers of the dtype as Normalize and noise make them, and the smallest and the largest there are.
Bytes random_values(std::size_t count, DType dtype, std::mt19937& random) {
  Bytes bytes(count * size_of(dtype));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t word = random_32(random);
    float value = (static_cast<float>(word >> 8) * 0x1p-24F - 0.5F) * 6;
    if (word % 16 == 0) value *= 0x1p-14F;
    if (word % 16 == 1) value *= 0x1p-24F;
    if (word % 16 == 2) value *= 20000;
    std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    if (dtype == DType::u8) bits = word;
    if (dtype == DType::f16) bits = to_float16(value);
    if (dtype == DType::bf16) bits = to_bfloat16(value);
    std::memcpy(bytes.data() + i * size_of(dtype), &bits, size_of(dtype));
  }
  return bytes;
}

/// `previous` counts from the first image after the mixed ones on; nothing: the last of those. Images begin `skip`
/// bytes after an aligned place.
void check_mix(const Mix& mix, DType dtype, Layout layout, Size size, std::uint32_t count,
               std::optional<std::size_t> previous, std::size_t skip, std::mt19937& random) {
  CAPTURE(to_string(dtype));
  CAPTURE(to_string(layout));
  CAPTURE(size.width);
  CAPTURE(count);
  CAPTURE(mix.share);
  const std::size_t image_bytes = values_of(size) * size_of(dtype);
  const std::size_t extra = previous ? *previous + 2 : 0;
  Bytes batch = random_values(values_of(size) * (count + extra), dtype, random);
  const gpu::Stream stream = gpu::Stream::create();
  const gpu::DeviceBuffer images = to_device(batch, skip);
  std::optional<std::size_t> index;
  if (previous) index = count + *previous;
  gpu::mix_images(mix, dtype, layout, size, images.data() + skip, count, index, stream.get());

  const BatchMixer mixer({MixUp{}}, dtype, layout, {size.height, size.width}, 10);
  const std::byte* const predecessor = index ? batch.data() + *index * image_bytes : nullptr;
  mixer.mix_images(mix, batch.data(), count, predecessor);
  const Bytes mixed = from_device(images.data() + skip, batch.size(), stream);
  const auto [here, there] = std::mismatch(batch.begin(), batch.end(), mixed.begin());
  CAPTURE(here - batch.begin());
  CAPTURE(here == batch.end() ? 0 : static_cast<int>(*here));
  CAPTURE(there == mixed.end() ? 0 : static_cast<int>(*there));
  CHECK(mixed == batch);
}

std::vector<Mix> mixes_of(Size size, std::mt19937& random) {
  const Rect part = random_rect(size, random);
  return {{Mix::Kind::blend, 0.3, {}},
          {Mix::Kind::blend, 0.5, {}},
          {Mix::Kind::blend, 1, {}},
          {Mix::Kind::blend, 1.0 / 3, {}},
          {Mix::Kind::paste, 0.5, part},
          {Mix::Kind::paste, 0, {0, 0, size.width, size.height}},
          {Mix::Kind::paste, 1, {size.width / 2, 0, 0, size.height}},
          {}};
}

}  // namespace

TEST_CASE("every dtype, layout and number of images") {
  std::mt19937 random(1);
  for (const DType dtype : kDTypes) {
    for (const Layout layout : kLayouts) {
      for (const Size size : {Size{1, 1}, Size{11, 7}, Size{16, 8}, Size{3, 16}}) {
        for (const std::uint32_t count : {1U, 2U, 9U, 17U, 300U}) {
          for (const Mix& mix : mixes_of(size, random)) {
            check_mix(mix, dtype, layout, size, count, std::nullopt, 0, random);
            check_mix(mix, dtype, layout, size, count, 0, 0, random);
            check_mix(mix, dtype, layout, size, count, 3, 0, random);
          }
        }
      }
    }
  }
}

TEST_CASE("images of ordinary sizes, and those that are not aligned") {
  std::mt19937 random(2);
  for (const DType dtype : kDTypes) {
    for (const Layout layout : kLayouts) {
      for (const Size size : {Size{224, 224}, Size{517, 333}}) {
        for (const Mix& mix : mixes_of(size, random)) check_mix(mix, dtype, layout, size, 5, std::nullopt, 0, random);
      }
      for (const Mix& mix : mixes_of({16, 16}, random)) {
        check_mix(mix, dtype, layout, {16, 16}, 12, 1, 4, random);
      }
    }
  }
}

TEST_CASE("the predecessor of the first image may be one of the mixed") {
  std::mt19937 random(3);
  const Size size = {8, 8};
  const Bytes batch = random_values(values_of(size) * 4, DType::f32, random);
  const std::size_t image_bytes = values_of(size) * sizeof(float);
  const Mix mix = {Mix::Kind::blend, 0.25, {}};
  const gpu::Stream stream = gpu::Stream::create();
  const gpu::DeviceBuffer images = to_device(batch);
  gpu::mix_images(mix, DType::f32, Layout::nchw, size, images.data(), 4, 3, stream.get());
  Bytes expected = batch;
  BatchMixer({MixUp{}}, DType::f32, Layout::nchw, {8, 8}, 10)
      .mix_images(mix, expected.data(), 4, batch.data() + 3 * image_bytes);
  CHECK(from_device(images.data(), batch.size(), stream) == expected);
}
