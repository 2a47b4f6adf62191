// What the host does for the CUDA part, by phase, without a GPU: from a record's bytes to the program of its batch.
//
//   gpu_plan_benchmark FILE [--batch N] [--batches N] [--scratch MiB]
//
// FILE: a packed dataset. Samples are RandomResizedCrop(224), flipped, normalised float16, in random order. Times are
// CPU nanoseconds of one thread per image, the least of all batches: whatever disturbs only ever adds.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "benchmarks/contest.h"
#include "imgpack/dataset.h"
#include "reader/augment/augmenter.h"
#include "reader/gpu/image_plan.h"
#include "reader/gpu/wave.h"

namespace {

using namespace imgpack;
using namespace imgpack::gpu;

struct Phase {
  const char* name;
  double seconds = std::numeric_limits<double>::max();

  template <class Work>
  void measure(Work work) {
    const double begin = cpu_seconds();
    work();
    seconds = std::min(seconds, cpu_seconds() - begin);
  }
};

}  // namespace

int main(int, char** argv) try {
  std::string file = argv[1];
  const Dataset data = Dataset::open(file);
  const StoreReader& store = data.store();
  const std::uint32_t batch = 1024;
  Augmenter augmenter({RandomResizedCrop{224}, HorizontalFlip{}, Normalize::imagenet()}, DType::f16, Layout::nchw);
  std::mt19937_64 random{1};
  Phase augment{"augment"}, fetch{"fetch"}, plan{"plan_image"}, size{"scratch"}, place{"place"}, add{"add"}, clear{"clear"};
  std::vector<SamplePlan> plans(batch);
  std::vector<std::uint64_t> records(batch);
  std::vector<RecordMeta> metas(batch);
  std::vector<RecordBytes> bytes(batch);
  std::vector<ImagePlan> images(batch);
  std::vector<JpegTask> jpegs(batch);
  std::vector<ScratchBytes> needs(batch);
  std::vector<ImagePlaces> places(batch);
  Wave wave;
  for (int b = 0; b < 100; ++b) {
    for (auto& record : records) record = random() % store.size();
    fetch.measure([&] { for (std::uint32_t i = 0; i < batch; ++i) { metas[i] = store.meta(records[i]); bytes[i] = store.bytes(records[i]); } });
    augment.measure([&] { for (std::uint32_t i = 0; i < batch; ++i) plans[i] = std::get<SamplePlan>(augmenter.plan(random(), records[i], {metas[i].width, metas[i].height})); });
    clear.measure([&] { for (auto& image : images) image.clear(); });
    plan.measure([&] { for (std::uint32_t i = 0; i < batch; ++i) plan_image(metas[i], bytes[i], plans[i], images[i], jpegs[i]); });
    size.measure([&] { for (std::uint32_t i = 0; i < batch; ++i) needs[i] = scratch_bytes(images[i], jpegs[i]); });
    Carver general, coefficients;
    place.measure([&] { for (std::uint32_t i = 0; i < batch; ++i) places[i] = place_image(images[i], jpegs[i], i, {general, coefficients}, nullptr); });
    add.measure([&] { wave.reset(); for (std::uint32_t i = 0; i < batch; ++i) if (images[i].path == ImagePath::jpeg) wave.add(images[i], jpegs[i], i, places[i]); });
  }
  for (const Phase& phase : {fetch, augment, clear, plan, size, place, add}) fmt::print("{:12} {:8.0f} ns\n", phase.name, phase.seconds / batch * 1e9);
  fmt::print("JpegTask {} StageTask {} segments {}\n", sizeof(JpegTask), sizeof(StageTask), wave.segments() / batch);
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
