// What a loader's thread does to an image besides decoding it, and the share of that in the whole.
//
//   augment_benchmark [--seconds S] [FOLDER]
//
// Raw records of 256x256 pixels beside a plain copy of as many bytes as the result has; the last step alone for every
// dtype and layout; operations on colors; MixUp; and, with a FOLDER of JPEG files, an ImageNet training image from
// indexed records. Each figure is the shortest of many runs over the same images, in microseconds an image.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "benchmarks/jpeg_sample.h"
#include "codec/other/other_image.h"
#include "codec/resize/resizer.h"
#include "reader/augment/augmenter.h"
#include "reader/augment/batch_mixer.h"
#include "reader/augment/color_ops.h"
#include "reader/augment/pixel_converter.h"
#include "reader/augment/sample_maker.h"

namespace {

using namespace imgpack;

constexpr Size kResult = {224, 224};
constexpr DType kDTypes[] = {DType::u8, DType::f32, DType::f16, DType::bf16};

/// Memory aligned as that of batches.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t size) : memory_(size + kAlignment) {}
  std::byte* data() {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (kAlignment - address % kAlignment) % kAlignment;
  }

 private:
  static constexpr std::size_t kAlignment = 64;
  std::vector<std::byte> memory_;
};

/// The shortest run, in microseconds an image.
template <class Work>
double shortest(double seconds, std::size_t images, Work work) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  double best = 1e9;
  do {
    const auto before = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - before).count());
  } while (std::chrono::duration<double>(Clock::now() - begin).count() < seconds);
  return best * 1e6 / static_cast<double>(images);
}

std::vector<std::byte> noise(std::size_t size) {
  std::mt19937 engine(1);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(engine() >> 24);
  return bytes;
}

/// Predecoded images, as many as do not fit into a processor's caches.
struct RawRecords {
  static constexpr std::size_t kCount = 512;
  static constexpr Size kSize = {256, 256};
  static constexpr std::size_t kBytes = std::size_t{3} * 256 * 256;
  std::vector<std::byte> payloads = noise(kCount * kBytes);

  RecordMeta meta() const {
    RecordMeta meta{.width = kSize.width, .height = kSize.height, .channels = 3, .codec = Codec::raw_rgb8};
    meta.payload_size = kBytes;
    return meta;
  }
  RecordBytes bytes(std::size_t i) const { return {std::span(payloads).subspan(i * kBytes, kBytes), {}}; }
};

void raw_crops(double seconds) {
  const RawRecords records;
  const std::size_t bytes = image_bytes(kResult, DType::u8);
  AlignedBytes out(RawRecords::kCount * bytes);
  const double copy = shortest(seconds, RawRecords::kCount, [&] {
    for (std::size_t i = 0; i < RawRecords::kCount; ++i) {
      std::memcpy(out.data() + i * bytes, records.bytes(i).payload.data() + 20'000, bytes);
    }
  });
  fmt::print("raw 256x256, RandomCrop 224: memcpy of the result {:.1f}\n", copy);
  for (const double flips : {0.0, 0.5, 1.0}) {
    for (const auto& [dtype, layout] : {std::pair{DType::u8, Layout::nhwc}, {DType::u8, Layout::nchw}}) {
      const Augmenter augmenter({RandomCrop{224}, HorizontalFlip{flips}}, dtype, layout);
      SampleMaker maker(augmenter.format(), nullptr, kDefaultMaxPixels, true);
      const double time = shortest(seconds, RawRecords::kCount, [&] {
        for (std::size_t i = 0; i < RawRecords::kCount; ++i) {
          const auto plan = augmenter.plan(1, i, RawRecords::kSize);
          maker.make(records.meta(), records.bytes(i), std::get<SamplePlan>(plan), out.data() + i * bytes);
        }
      });
      fmt::print("  {} {}, {:3.0f} % flipped: {:.1f} ({:.2f} of memcpy)\n", to_string(dtype), to_string(layout),
                 flips * 100, time, time / copy);
    }
  }
}

void conversions(double seconds) {
  constexpr std::size_t kImages = 64;
  const std::vector<std::byte> pixels = noise(image_bytes(kResult, DType::u8));
  AlignedBytes out(kImages * image_bytes(kResult, DType::f32));
  fmt::print("the last step of 224x224 pixels\n");
  for (const DType dtype : kDTypes) {
    for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
      for (const bool flip : {false, true}) {
        PixelFormat format{dtype, layout};
        if (dtype != DType::u8) format.normalize = Normalize::imagenet();
        PixelConverter usual(format);
        PixelConverter streaming(format, true);
        const auto convert = [&](PixelConverter& converter, std::byte* to) {
          for (std::uint32_t y = 0; y < kResult.height; ++y) {
            converter.convert_row(reinterpret_cast<const std::uint8_t*>(pixels.data()) + y * kResult.width * 3, kResult,
                                  y, flip, to);
          }
        };
        const auto convert_batch = [&](PixelConverter& converter) {
          for (std::size_t i = 0; i < kImages; ++i) convert(converter, out.data() + i * image_bytes(kResult, dtype));
          converter.finish();
        };
        const double in_cache = shortest(seconds, 1, [&] { convert(usual, out.data()); });
        const double in_memory = shortest(seconds, kImages, [&] { convert_batch(usual); });
        const double streamed = shortest(seconds, kImages, [&] { convert_batch(streaming); });
        fmt::print("  {:8} {} {:7}: {:5.1f} into the cache, {:5.1f} into a batch, {:5.1f} past the caches\n",
                   to_string(dtype), to_string(layout), flip ? "flipped" : "", in_cache, in_memory, streamed);
      }
    }
  }
}

void colors() {
  using Kind = ColorOp::Kind;
  std::vector<std::byte> pixels = noise(image_bytes(kResult, DType::u8));
  const RgbView image = {reinterpret_cast<std::uint8_t*>(pixels.data()), kResult.width, kResult.height,
                         std::size_t{kResult.width} * 3};
  fmt::print("operations on the colors of 224x224 pixels\n");
  for (const auto& [name, op] : {std::pair{"brightness", ColorOp{Kind::brightness, 1.1F}},
                                 {"contrast", ColorOp{Kind::contrast, 1.1F}},
                                 {"saturation", ColorOp{Kind::saturation, 1.1F}},
                                 {"hue", ColorOp{Kind::hue, 0.07F}},
                                 {"grayscale", ColorOp{Kind::grayscale, 1}}}) {
    const std::vector<std::byte> fresh = noise(pixels.size());
    double best = 1e9;
    for (int i = 0; i < 20; ++i) {
      std::memcpy(pixels.data(), fresh.data(), fresh.size());
      best = std::min(best, shortest(0, 1, [&] { apply_color(op, image); }));
    }
    fmt::print("  {}: {:.0f}\n", name, best);
  }
}

void mixing(double seconds) {
  constexpr std::uint32_t kImages = 64;
  fmt::print("MixUp of a batch of {}\n", kImages);
  for (const DType dtype : kDTypes) {
    std::vector<std::byte> batch(kImages * image_bytes(kResult, dtype));
    const BatchMixer mixer({MixUp{}}, dtype, Layout::nchw, 224, 10);
    const Mix mix = {Mix::Kind::blend, 0.7, {}};
    const double time = shortest(seconds, kImages, [&] { mixer.mix_images(mix, batch.data(), kImages, nullptr); });
    fmt::print("  {}: {:.1f}\n", to_string(dtype), time);
  }
}

void training_images(double seconds, const std::filesystem::path& folder) {
  const std::vector<SampleJpeg> samples = load_jpeg_sample(folder).images;
  fmt::print("{} indexed JPEGs, RandomResizedCrop 224, flip, Normalize\n", samples.size());
  AlignedBytes out(samples.size() * image_bytes(kResult, DType::f32));
  const auto time_of = [&](const Augmenter& augmenter) {
    SampleMaker maker(augmenter.format(), nullptr, kDefaultMaxPixels, true);
    const std::size_t bytes = image_bytes(kResult, augmenter.format().dtype);
    return shortest(seconds, samples.size(), [&] {
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const auto& [path, file, index, size] = samples[i];
        RecordMeta meta{.width = size.width, .height = size.height, .channels = 3, .codec = Codec::jpeg};
        meta.segments_size = index.size();
        const auto plan = augmenter.plan(1, i, size);
        maker.make(meta, {file, index}, std::get<SamplePlan>(plan), out.data() + i * bytes);
      }
    });
  };
  const double resized = time_of(Augmenter({RandomResizedCrop{224}}, DType::u8, Layout::nhwc));
  fmt::print("  crop and resize alone: {:.1f}\n", resized);
  for (const DType dtype : kDTypes) {
    for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
      std::vector<Augmentation> steps = {RandomResizedCrop{224}, HorizontalFlip{}};
      if (dtype != DType::u8) steps.emplace_back(Normalize::imagenet());
      const double time = time_of(Augmenter(steps, dtype, layout));
      fmt::print("  {} {}: {:.1f}, {:+.1f} %\n", to_string(dtype), to_string(layout), time, (time / resized - 1) * 100);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Speed of augmentation on the CPU");
  double seconds = 0.5;
  std::string folder;
  app.add_option("--seconds", seconds, "for each figure");
  app.add_option("folder", folder, "of JPEG files");
  CLI11_PARSE(app, argc, argv);
  raw_crops(seconds);
  conversions(seconds);
  colors();
  mixing(seconds);
  if (!folder.empty()) training_images(seconds, folder);
  return 0;
}
