// What vector instructions are worth: decoding and fused random crops with each instruction set that the processor has,
// and without any, on the same files in the same run. One thread, files in memory.
//
//   simd_benchmark FOLDER [ROUNDS]
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <hwy/highway.h>

#include "benchmarks/contest.h"
#include "benchmarks/fused_crop.h"
#include "benchmarks/jpeg_sample.h"

namespace {

using namespace imgpack;

void use(std::int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

/// Those that the processor has and this program was compiled for, the one without vectors first.
std::vector<std::int64_t> find_targets() {
  std::vector<std::int64_t> targets;
  for (std::int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    targets.insert(targets.begin(), left & -left);
  }
  return targets;
}

/// Adds `work` once for each instruction set.
void add_targets(const std::vector<std::int64_t>& targets, Contest& contest, const Contest::Work& work) {
  for (const std::int64_t target : targets) {
    contest.add(hwy::TargetName(target), [work, target](std::size_t item) {
      use(target);
      work(item);
    });
  }
}

void print(const char* title, const Contest& contest) {
  fmt::print("\n{:<24} {:>10} {:>8}\n", title, "images/s", "ratio");
  for (std::size_t i = 0; i < contest.size(); ++i) {
    fmt::print("{:<24} {:>10.0f} {:>8.2f}\n", contest.name(i),
               static_cast<double>(contest.items()) / contest.seconds(i), contest.seconds(0) / contest.seconds(i));
  }
}

void run(const char* folder, int rounds) {
  const JpegSample sample = load_jpeg_sample(folder);
  const std::vector<SampleCrop> crops = random_resized_crops(sample, 1);
  const std::vector<std::int64_t> targets = find_targets();

  jpeg::CropDecoder decoder;
  RgbImage image;
  Contest whole(sample.images.size());
  add_targets(targets, whole, [&](std::size_t i) {
    const SampleJpeg& jpeg = sample.images[i];
    decoder.decode(jpeg.file, open_index(jpeg.index, jpeg.file), {0, 0, jpeg.size.width, jpeg.size.height},
                   image.resize(jpeg.size));
  });
  whole.run(rounds);
  print("whole decode", whole);

  FusedCrop fused;
  RgbImage result;
  result.resize(kTrainingSize);
  Contest random_crops(crops.size());
  add_targets(targets, random_crops, [&](std::size_t i) {
    const SampleJpeg& jpeg = sample.images[crops[i].image];
    fused.run(jpeg.file, jpeg.index, crops[i].rect, result.view());
  });
  random_crops.run(rounds);
  print("random crops to 224x224", random_crops);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 3) {
    fmt::print(stderr, "usage: simd_benchmark FOLDER [ROUNDS]\n");
    return 2;
  }
  run(argv[1], argc == 3 ? std::atoi(argv[2]) : 5);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "simd_benchmark: {}\n", error.what());
  return 1;
}
