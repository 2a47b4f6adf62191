// Predecoded records by the kernel and by the host: the same bits.
#include "reader/gpu/kernels/raw_images.h"

#include <cstring>
#include <random>

#include <doctest/doctest.h>

#include "reader/augment/sample_maker.h"
#include "tests/gpu/gpu_testing.h"

using namespace imgpack;
using namespace imgpack::gpu;
using namespace imgpack::testing;

namespace {

struct Case {
  Size record;
  PlanStage stage;
  std::size_t source_shift = 0;  ///< of the record from an aligned address
};

PlanStage stage_of(const Rect& crop, const Canvas& canvas, bool flip) {
  return {.crop = crop, .scaled = {crop.width, crop.height}, .canvas = canvas, .flip = flip};
}
PlanStage crop_only(const Rect& crop, bool flip) {
  return stage_of(crop, {.size = {crop.width, crop.height}}, flip);
}

/// Makes all cases in one launch and compares every byte, those between the images too.
void check_cases(const std::vector<Case>& cases, const PixelFormat& format, int blocks = 0) {
  constexpr std::size_t kGap = 64;
  const std::size_t value_bytes = size_of(format.dtype);
  std::size_t source_bytes = kGap;
  std::size_t room = kGap;
  Size largest;
  for (const Case& c : cases) {
    const Size size = c.stage.canvas.size;
    source_bytes += std::size_t{c.record.width} * c.record.height * 3 + kGap * 2;
    room += image_bytes(size, format.dtype) + kGap;
    largest = {std::max(largest.width, size.width), std::max(largest.height, size.height)};
  }
  const std::vector<std::byte> content = random_bytes(source_bytes, 17);
  const PinnedBuffer source(source_bytes);
  std::memcpy(source.data(), content.data(), content.size());
  const DeviceBuffer out(room);
  fill_device(out, 0xA5);
  std::vector<std::byte> expected(room, std::byte{0xA5});

  SampleMaker maker(format, nullptr);
  std::vector<RawTask> tasks;
  std::size_t from = 0;
  std::size_t to = 0;
  for (const Case& c : cases) {
    from = (from + kGap) / 16 * 16 + c.source_shift;
    const std::size_t bytes = std::size_t{c.record.width} * c.record.height * 3;
    const RecordMeta meta{.width = c.record.width,
                          .height = c.record.height,
                          .channels = 3,
                          .codec = Codec::raw_rgb8,
                          .payload_size = bytes};
    const SamplePlan plan{.stages = {c.stage}, .erasings = {}};
    const ImageResult result =
        maker.make(meta, {.payload = {source.data() + from, bytes}, .segments = {}}, plan, expected.data() + to);
    REQUIRE_MESSAGE(result.ok(), result.reason);
    const std::uint64_t stride = std::uint64_t{c.record.width} * 3;
    const Rect& crop = c.stage.crop;
    tasks.push_back({.source = reinterpret_cast<const std::uint8_t*>(source.data() + from) + crop.y * stride +
                               std::uint64_t{crop.x} * 3,
                     .source_stride = stride,
                     .crop = {crop.width, crop.height},
                     .canvas = c.stage.canvas,
                     .flip = c.stage.flip,
                     .out = out.data() + to});
    from += bytes;
    to += image_bytes(c.stage.canvas.size, format.dtype);
    if (to % 8 == 0 && tasks.size() % 3 == 0) to += 4 * value_bytes;  // images need not touch each other
  }
  const DeviceBuffer device_tasks = to_device(tasks);
  const DeviceValueTables values(format);
  launch_raw_images(reinterpret_cast<const RawTask*>(device_tasks.data()), static_cast<std::uint32_t>(tasks.size()),
                    largest, values.values(), nullptr, blocks);
  const std::vector<std::byte> made = from_device(out);
  std::size_t wrong = 0;
  while (wrong < made.size() && made[wrong] == expected[wrong]) ++wrong;
  CHECK_MESSAGE(wrong == made.size(), "byte ", wrong, " of ", made.size());
}

std::vector<PixelFormat> all_formats() {
  std::vector<PixelFormat> formats;
  for (const DType dtype : {DType::u8, DType::f32, DType::f16, DType::bf16}) {
    for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
      formats.push_back({.dtype = dtype, .layout = layout});
      if (dtype != DType::u8) formats.push_back({.dtype = dtype, .layout = layout, .normalize = Normalize::imagenet()});
    }
  }
  return formats;
}

/// Anything a plan may ask for.
Case random_case(std::mt19937& random, std::uint32_t largest) {
  const auto up_to = [&random](std::uint32_t most) { return 1 + static_cast<std::uint32_t>(random()) % most; };
  const Size record = {up_to(largest), up_to(largest)};
  Rect crop;
  crop.x = up_to(record.width) - 1;
  crop.y = up_to(record.height) - 1;
  crop.width = up_to(record.width - crop.x);
  crop.height = up_to(record.height - crop.y);
  Canvas canvas{.size = {up_to(largest), up_to(largest)}, .fill = {1, 128, 254}};
  const auto offset = [&](std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int32_t>(up_to(a + b + 8)) - static_cast<std::int32_t>(b) - 4;
  };
  canvas.left = offset(crop.width, canvas.size.width);
  canvas.top = offset(crop.height, canvas.size.height);
  if (random() % 3 == 0) canvas = {.size = {crop.width, crop.height}};
  if (canvas.lies_in({crop.width, crop.height})) {  // plans crop then
    crop = {crop.x + static_cast<std::uint32_t>(canvas.left), crop.y + static_cast<std::uint32_t>(canvas.top),
            canvas.size.width, canvas.size.height};
    canvas = {.size = canvas.size};
  }
  return {record, stage_of(crop, canvas, random() % 2 == 0), random() % 16};
}

}  // namespace

TEST_CASE("whole records as they are, at every alignment") {
  std::vector<Case> cases;
  for (std::size_t shift = 0; shift < 16; ++shift) {
    cases.push_back({{256, 256}, crop_only({0, 0, 256, 256}, false), shift});
    cases.push_back({{33, 5}, crop_only({0, 0, 33, 5}, false), shift});
    cases.push_back({{1, 1}, crop_only({0, 0, 1, 1}, false), shift});
  }
  for (const PixelFormat& format : all_formats()) check_cases(cases, format);
}

TEST_CASE("crops of 224 with and without flip") {
  std::vector<Case> cases;
  for (std::uint32_t i = 0; i < 32; ++i) {
    cases.push_back({{256, 256}, crop_only({i, 31 - i, 224, 224}, i % 2 == 1), i % 16});
    cases.push_back({{224, 300}, crop_only({0, i, 224, 224}, i % 2 == 1), i % 16});
  }
  for (const PixelFormat& format : all_formats()) check_cases(cases, format);
}

TEST_CASE("anything a plan may ask for") {
  std::mt19937 random(23);
  for (const PixelFormat& format : all_formats()) {
    for (const std::uint32_t largest : {3u, 40u, 300u}) {
      std::vector<Case> cases;
      for (int i = 0; i < 60; ++i) cases.push_back(random_case(random, largest));
      check_cases(cases, format);
      check_cases(cases, format, 1);
    }
  }
}

TEST_CASE("images wider than a tile, and canvases that show nothing") {
  const std::vector<Case> cases = {
      {{5000, 9}, crop_only({3, 1, 4990, 7}, false), 5},
      {{5000, 9}, crop_only({0, 0, 5000, 9}, true), 1},
      {{3, 3000}, crop_only({1, 5, 2, 2900}, true), 2},
      {{20, 20}, stage_of({2, 2, 10, 10}, {.left = 11, .top = 0, .size = {30, 30}, .fill = {9, 8, 7}}, true), 0},
      {{20, 20}, stage_of({2, 2, 10, 10}, {.left = 0, .top = -31, .size = {30, 30}, .fill = {9, 8, 7}}, false), 0},
      {{20, 20},
       stage_of({0, 0, 20, 20},
                {.left = std::numeric_limits<std::int32_t>::min(), .top = 5, .size = {4, 4}, .fill = {1, 2, 3}}, false),
       0},
  };
  for (const PixelFormat& format : all_formats()) check_cases(cases, format);
}

TEST_CASE("no images") {
  launch_raw_images(nullptr, 0, {8, 8}, {}, nullptr);
}
