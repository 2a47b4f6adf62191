// Operations on colors, dtypes and layouts on the device against those of the host.
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "reader/augment/color_ops.h"
#include "reader/augment/draws.h"
#include "reader/augment/pixel_converter.h"
#include "reader/gpu/kernels/finish_image.h"
#include "tests/gpu/device_copies.h"
#include "tests/gpu/pixel_cases.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace {

using Kind = ColorOp::Kind;
using Bytes = std::vector<std::byte>;

constexpr Size kSizes[] = {{1, 1}, {1, 5}, {37, 1}, {2, 2}, {224, 224}, {517, 333}};

struct Sample {
  Size size;
  std::vector<std::uint8_t> pixels;
  std::vector<ColorOp> ops;
};

void color_on_host(Sample& sample) {
  const RgbView view = {sample.pixels.data(), sample.size.width, sample.size.height,
                        std::size_t{sample.size.width} * 3};
  for (const ColorOp& op : sample.ops) apply_color(op, view);
}

Bytes finish_on_host(Sample sample, const PixelFormat& format) {
  color_on_host(sample);
  PixelConverter converter(format);
  Bytes out(sample.pixels.size() * size_of(format.dtype));
  for (std::uint32_t y = 0; y < sample.size.height; ++y) {
    const std::uint8_t* const row = sample.pixels.data() + std::size_t{y} * sample.size.width * 3;
    converter.convert_row(row, sample.size, y, false, out.data());
  }
  return out;
}

/// All samples by one launch: finished images, or canvases where there is no format. Images begin `shift` values after
/// an aligned place.
std::vector<Bytes> on_device(const std::vector<Sample>& samples, const std::optional<PixelFormat>& format,
                             std::size_t shift = 0) {
  const gpu::Stream stream = gpu::Stream::create();
  const gpu::DeviceValueTables tables(format.value_or(PixelFormat()));
  const std::size_t value_bytes = format ? size_of(format->dtype) : 1;
  std::vector<ColorOp> ops;
  std::vector<gpu::FinishTask> tasks;
  std::vector<gpu::DeviceBuffer> memory;
  for (const Sample& sample : samples) {
    gpu::FinishTask task = {};
    memory.push_back(to_device(sample.pixels));
    task.canvas = reinterpret_cast<std::uint8_t*>(memory.back().data());
    if (format) {
      memory.emplace_back((sample.pixels.size() + shift) * value_bytes);
      task.out = memory.back().data() + shift * value_bytes;
    }
    task.width = sample.size.width;
    task.height = sample.size.height;
    task.first_op = static_cast<std::uint32_t>(ops.size());
    task.op_count = static_cast<std::uint32_t>(sample.ops.size());
    ops.insert(ops.end(), sample.ops.begin(), sample.ops.end());
    tasks.push_back(task);
  }
  const gpu::DeviceBuffer device_ops = to_device(ops);
  const gpu::DeviceBuffer device_tasks = to_device(tasks);
  gpu::finish_images(reinterpret_cast<const gpu::FinishTask*>(device_tasks.data()),
                     static_cast<std::uint32_t>(tasks.size()), reinterpret_cast<const ColorOp*>(device_ops.data()),
                     tables.values(), stream.get());
  std::vector<Bytes> made;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::byte* const at = format ? tasks[i].out : reinterpret_cast<const std::byte*>(tasks[i].canvas);
    made.push_back(from_device(at, samples[i].pixels.size() * value_bytes, stream));
  }
  return made;
}

std::string describe(const Sample& sample) {
  std::string text = fmt::format("{}x{}", sample.size.width, sample.size.height);
  for (const ColorOp& op : sample.ops) text += fmt::format(" {}:{}", static_cast<int>(op.kind), op.factor);
  return text;
}

void check_colors(const std::vector<Sample>& samples) {
  const std::vector<Bytes> made = on_device(samples, std::nullopt);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    CAPTURE(describe(samples[i]));
    Sample expected = samples[i];
    color_on_host(expected);
    CHECK(std::memcmp(made[i].data(), expected.pixels.data(), expected.pixels.size()) == 0);
  }
}

void check_finished(const std::vector<Sample>& samples, const PixelFormat& format, std::size_t shift = 0) {
  const std::vector<Bytes> made = on_device(samples, format, shift);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    CAPTURE(describe(samples[i]));
    CHECK(made[i] == finish_on_host(samples[i], format));
  }
}

/// Chains as ColorJitter and Grayscale make them.
std::vector<Sample> drawn_samples(std::size_t count, std::mt19937& random) {
  std::vector<Sample> samples;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Size size = kSizes[i % std::size(kSizes)];
    RandomStream stream(7, i, 0);
    std::vector<ColorOp> ops = draw_color_ops({0.8, 0.8, 1.5, i % 3 == 0 ? 0 : 0.4}, stream);
    if (i % 4 == 3) ops.push_back({Kind::grayscale, 1});
    if (i % 5 == 4) {
      const std::vector<ColorOp> more = draw_color_ops({0, 0.4, 0.4, 0.1}, stream);
      ops.insert(ops.end(), more.begin(), more.end());
    }
    samples.push_back({size, random_pixels(size, random), ops});
  }
  return samples;
}

}  // namespace

TEST_CASE("each operation on colors") {
  constexpr float kMost = std::numeric_limits<float>::max();
  std::mt19937 random(1);
  std::vector<Sample> samples;
  for (const Size size : kSizes) {
    for (const Kind kind : {Kind::brightness, Kind::contrast, Kind::saturation}) {
      for (const float factor : {0.0F, 0x1p-149F, 0.25F, 0.999F, 1.0F, 1.001F, 1.8F, 300.0F, kMost}) {
        samples.push_back({size, random_pixels(size, random), {{kind, factor}}});
      }
    }
    for (const float turn : {-0.5F, -0.1F, -0.001F, 0.0F, 0.004F, 0.3F, 0.5F}) {
      samples.push_back({size, random_pixels(size, random), {{Kind::hue, turn}}});
    }
    samples.push_back({size, random_pixels(size, random), {{Kind::grayscale, 0.5F}}});
    samples.push_back({size, random_pixels(size, random), {}});
  }
  check_colors(samples);
}

TEST_CASE("every hue of every color") {
  std::vector<Sample> samples;  // 64 images of a quarter of a million colors
  for (std::uint32_t part = 0; part < 64; ++part) {
    Sample sample = {{512, 512}, std::vector<std::uint8_t>(std::size_t{512} * 512 * 3), {}};
    for (std::uint32_t i = 0; i < 512 * 512; ++i) {
      const std::uint32_t color = part << 18 | i;
      for (std::uint32_t c = 0; c < 3; ++c) sample.pixels[i * 3 + c] = static_cast<std::uint8_t>(color >> (8 * c));
    }
    sample.ops = {{Kind::hue, static_cast<float>(part) / 63 - 0.5F}};
    samples.push_back(std::move(sample));
  }
  check_colors(samples);
}

TEST_CASE("chains of operations") {
  std::mt19937 random(2);
  check_colors(drawn_samples(90, random));
  const Size size = {61, 67};
  check_colors({{size,
                 random_pixels(size, random),
                 {{Kind::contrast, 0.5F}, {Kind::contrast, 1.7F}, {Kind::contrast, 1}, {Kind::contrast, 0.3F}}},
                {size, random_pixels(size, random), {{Kind::contrast, 1}}},
                {size, random_pixels(size, random), {{Kind::grayscale, 1}, {Kind::contrast, 3}}},
                {size, random_pixels(size, random), {{Kind::hue, 0.2F}, {Kind::contrast, 0}}}});
}

TEST_CASE("finished images of every dtype and layout") {
  std::mt19937 random(3);
  const std::vector<Sample> samples = drawn_samples(12, random);
  for (const DType dtype : kDTypes) {
    for (const Layout layout : kLayouts) {
      CAPTURE(to_string(dtype));
      CAPTURE(to_string(layout));
      check_finished(samples, {dtype, layout, std::nullopt});
      if (dtype == DType::u8) continue;
      check_finished(samples, {dtype, layout, Normalize::imagenet()});
      check_finished(samples, {dtype, layout, Normalize{{-3, 0.1F, 700}, {1e-4F, 3, -0.7F}}});
    }
  }
}

TEST_CASE("finished images at any place") {
  std::mt19937 random(4);
  const std::vector<Sample> samples = drawn_samples(12, random);
  for (const DType dtype : kDTypes) {
    for (const Layout layout : kLayouts) {
      for (const std::size_t shift : {1U, 2U, 4U}) {
        CAPTURE(to_string(dtype));
        CAPTURE(to_string(layout));
        CAPTURE(shift);
        check_finished(samples, {dtype, layout, std::nullopt}, shift);
      }
    }
  }
}

TEST_CASE("nothing to finish") {
  CHECK(on_device({}, PixelFormat()).empty());
}
