// RandomErasing on the device against that of the host.
#include <optional>

#include <doctest/doctest.h>

#include "reader/augment/erasing.h"
#include "reader/gpu/kernels/erase.h"
#include "tests/gpu/device_copies.h"
#include "tests/gpu/pixel_cases.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace {

using Bytes = std::vector<std::byte>;

/// Of one image each.
using Erasings = std::vector<std::vector<Erasing>>;

Bytes random_batch(std::size_t bytes, std::mt19937& random) {
  Bytes batch(bytes);
  for (std::byte& value : batch) value = static_cast<std::byte>(random());
  return batch;
}

void check_erasings(const Erasings& erasings, Size size, DType dtype, Layout layout, std::mt19937& random) {
  const std::size_t image_bytes = values_of(size) * size_of(dtype);
  Bytes batch = random_batch(image_bytes * erasings.size(), random);
  const gpu::Stream stream = gpu::Stream::create();
  const gpu::DeviceBuffer images = to_device(batch);
  std::vector<gpu::EraseTask> tasks;
  for (std::size_t i = 0; i < erasings.size(); ++i) {
    auto later = static_cast<std::uint32_t>(erasings[i].size());
    for (const Erasing& erasing : erasings[i]) {
      tasks.push_back(gpu::make_erase_task(erasing, dtype, images.data() + i * image_bytes, --later));
      erase(erasing, {dtype, layout, std::nullopt}, size, batch.data() + i * image_bytes);
    }
  }
  const gpu::DeviceBuffer device_tasks = to_device(tasks);
  gpu::erase_rects(reinterpret_cast<const gpu::EraseTask*>(device_tasks.data()),
                   static_cast<std::uint32_t>(tasks.size()), dtype, layout, size, stream.get());
  CHECK(from_device(images.data(), batch.size(), stream) == batch);
}

Erasing random_erasing(Size size, DType dtype, std::mt19937& random) {
  Erasing erasing;
  erasing.rect = random_rect(size, random);
  for (float& value : erasing.value) {
    const auto byte = static_cast<float>(random() % 256);
    value = dtype == DType::u8 ? byte : byte / 37 - 3;
  }
  erasing.noise = dtype != DType::u8 && random() % 2 == 0;
  erasing.key = random_32(random) | std::uint64_t{random_32(random)} << 32;
  erasing.record = random_32(random) | std::uint64_t{random_32(random)} << 32;
  erasing.operation = random_32(random) % 5;
  return erasing;
}

}  // namespace

TEST_CASE("rectangles of values and of noise, several in an image") {
  std::mt19937 random(1);
  for (const DType dtype : kDTypes) {
    for (const Layout layout : kLayouts) {
      for (const Size size : {Size{1, 1}, Size{1, 9}, Size{13, 2}, Size{224, 224}, Size{517, 333}}) {
        CAPTURE(to_string(dtype));
        CAPTURE(to_string(layout));
        CAPTURE(size.width);
        Erasings erasings(8);
        for (std::size_t i = 0; i < erasings.size(); ++i) {
          for (std::size_t n = 0; n < i % 4; ++n) erasings[i].push_back(random_erasing(size, dtype, random));
        }
        check_erasings(erasings, size, dtype, layout, random);
      }
    }
  }
}

TEST_CASE("empty rectangles and whole images") {
  std::mt19937 random(2);
  const Size size = {31, 17};
  Erasing whole = random_erasing(size, DType::f32, random);
  whole.rect = {0, 0, 31, 17};
  whole.noise = true;
  Erasing empty = whole;
  empty.rect = {};
  check_erasings({{whole, empty}, {empty}, {empty, whole}}, size, DType::f32, Layout::nchw, random);
  check_erasings({}, size, DType::f32, Layout::nchw, random);
}
