// A loader on a GPU delivers the batches of a loader on the CPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "imgpack/build.h"
#include "imgpack/loader.h"
#include "reader/gpu/cuda_check.h"
#include "reader/loader_testing.h"
#include "tests/gpu/loader_batches.h"
#include "tests/support/files.h"
#include "tests/support/thrown.h"

namespace imgpack {

namespace {

using testing::check_same;
using testing::code_of;
using testing::damage_record;
using testing::error_of;
using testing::host_batch;
using testing::host_batches;
using testing::HostBatch;
using testing::PackedKinds;

LoaderOptions options_of(std::vector<Augmentation> transform) {
  return {.split = "train", .batch_size = 8, .seed = 7, .transform = std::move(transform), .threads = 2};
}

const std::vector<Augmentation> kTraining = {RandomResizedCrop{ImageSize{40, 32}}, HorizontalFlip{},
                                             ColorJitter{0.4, 0.4, 0.4, 0.1}, Grayscale{0.2}};

std::vector<HostBatch> epoch_on(const Dataset& data, LoaderOptions options, const std::string& device) {
  options.device = device;
  Loader loader(data, options);
  return host_batches(loader.epoch(3));
}

int device_count() {
  int count = 0;
  gpu::check(cudaGetDeviceCount(&count), "counting devices");
  return count;
}

TEST_CASE("batches on a GPU are those of the CPU, in every dtype and layout") {
  const PackedKinds images;
  const Dataset data = images.open();
  for (const DType dtype : {DType::u8, DType::f32, DType::f16, DType::bf16}) {
    for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
      CAPTURE(to_string(dtype));
      CAPTURE(to_string(layout));
      LoaderOptions options = options_of(kTraining);
      options.dtype = dtype;
      options.layout = layout;
      if (dtype != DType::u8) options.transform.push_back(Normalize::imagenet());
      check_same(epoch_on(data, options, "cuda"), epoch_on(data, options, "cpu"));
    }
  }
}

TEST_CASE("batches on a GPU are those of the CPU, whatever is done to the images") {
  const PackedKinds images;
  const Dataset data = images.open();
  const std::vector<std::vector<Augmentation>> transforms = {
      {Resize{48}, CenterCrop{40}},
      {Resize{200}, CenterCrop{224}},
      {Resize{0, ImageSize{31, 57}, Interpolation::bicubic}},
      {RandomResizedCrop{.size = 36, .interpolation = Interpolation::nearest}},
      {RandomCrop{.size = 64, .padding = 4, .pad_if_needed = true, .fill = {9, 99, 199}}, HorizontalFlip{}},
      {RandomResizedCrop{32}, Normalize::imagenet(), RandomErasing{1}},
      {RandomResizedCrop{32}, Normalize::imagenet(), RandomErasing{.probability = 1, .noise = true}},
      {RandomResizedCrop{32}, Resize{40}, ColorJitter{0.5, 0.5, 0.5, 0.5}},
      {RandomResizedCrop{32}, MixUp{0.4}},
      {RandomResizedCrop{32}, CutMix{1}}};
  for (const std::vector<Augmentation>& transform : transforms) {
    CAPTURE(to_string(transform.back()));
    check_same(epoch_on(data, options_of(transform), "cuda"), epoch_on(data, options_of(transform), "cpu"));
  }
}

TEST_CASE("every transport gives the same batches, and says why it was chosen") {
  const PackedKinds images;
  const Dataset data = images.open();
  const std::vector<HostBatch> expected = epoch_on(data, options_of(kTraining), "cpu");
  for (const Transport transport : {Transport::automatic, Transport::zero_copy, Transport::pinned}) {
    for (const ReadMode mode : {ReadMode::mapped, ReadMode::unbuffered}) {
      CAPTURE(to_string(transport));
      CAPTURE(to_string(mode));
      LoaderOptions options = options_of(kTraining);
      options.device = "cuda:0";
      options.transport = transport;
      options.read = mode;
      Loader loader(data, options);
      check_same(host_batches(loader.epoch(3)), expected);
      const LoaderStats stats = loader.stats();
      CHECK(to_string(stats.device) == "cuda:0");
      CHECK_FALSE(stats.transport.empty());
      if (transport != Transport::automatic) CHECK(stats.transport.find(to_string(transport)) != std::string::npos);
      CHECK(stats.device_samples >= 48);  // but not progressive JPEGs and PNGs
      CHECK(stats.host_samples >= 12);
      CHECK(stats.device_seconds > 0);
    }
  }
}

TEST_CASE("GPUDirect Storage gives the same batches, or an error that says what is missing") {
  const PackedKinds images;
  const testing::TempDir dir;
  // With a raw dataset next to one of files: the first is read by cuFile, the second is not.
  convert(images.path(), dir / "raw.rec", {.transform = Transform{.encode = Encode::raw}});
  for (const std::filesystem::path& path : {dir / "raw.rec", images.path()}) {
    const Dataset data = Dataset::open(path);
    for (const std::vector<Augmentation>& transform : {kTraining, {RandomCrop{.size = 40, .pad_if_needed = true}}}) {
      LoaderOptions options = options_of(transform);
      const std::vector<HostBatch> expected = epoch_on(data, options, "cpu");
      options.transport = Transport::gds;
      try {
        check_same(epoch_on(data, options, "cuda"), expected);
      } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::unsupported);
        CHECK(error.message().find("GPUDirect Storage") != std::string::npos);
        MESSAGE(error.message());
      }
    }
  }
}

TEST_CASE("ranks and mixing on GPUs give the global batches of the CPU") {
  const PackedKinds images;
  const Dataset data = images.open();
  LoaderOptions options = options_of({RandomResizedCrop{32}, HorizontalFlip{}, MixUp{1}, CutMix{1}});
  options.batch_size = 0;
  options.global_batch_size = 10;
  options.world_size = 3;
  for (options.rank = 0; options.rank < 3; ++options.rank) {
    check_same(epoch_on(data, options, "cuda"), epoch_on(data, options, "cpu"));
  }
}

TEST_CASE("a run goes on in mid-epoch, from the CPU to a GPU and back") {
  const PackedKinds images;
  const Dataset data = images.open();
  const std::vector<HostBatch> expected = epoch_on(data, options_of(kTraining), "cpu");
  for (const bool to_gpu : {true, false}) {
    LoaderOptions options = options_of(kTraining);
    options.device = to_gpu ? "cpu" : "cuda";
    LoaderState state;
    {
      Loader loader(data, options);
      Epoch epoch = loader.epoch(3);
      for (std::size_t i = 0; i < 3; ++i) check_same(host_batch(*epoch.next()), expected[i]);
      state = loader.state();
    }
    options.device = to_gpu ? "cuda" : "cpu";
    Loader loader(data, options);
    loader.restore(state);
    check_same(host_batches(loader.epoch()), {expected.begin() + 3, expected.end()});
  }
}

TEST_CASE("damage on a GPU stops the epoch where its batch is due, or is left out") {
  const PackedKinds images;
  for (const std::uint64_t record : {3u, 20u, 21u}) damage_record(images.path(), record);
  const Dataset data = images.open();
  for (const bool mixed : {false, true}) {
    LoaderOptions options = options_of({RandomResizedCrop{32}});
    options.sampling.shuffle = Shuffle::none;
    if (mixed) options.transform.push_back(MixUp{1});
    const Error error = error_of([&] { epoch_on(data, options, "cuda"); });
    CHECK(error.code() == ErrorCode::damaged);
    CHECK(error.place().record == 3);
    options.on_damage = OnDamage::skip;
    check_same(epoch_on(data, options, "cuda"), epoch_on(data, options, "cpu"));
  }
}

/// With one GPU these are loaders side by side on one.
TEST_CASE("devices of one process have loaders of their own, and one may decode for another") {
  const PackedKinds images;
  const Dataset data = images.open();
  const std::vector<HostBatch> expected = epoch_on(data, options_of(kTraining), "cpu");
  const std::string last = to_string(Device{.type = Device::Type::cuda, .index = device_count() - 1});
  LoaderOptions options = options_of(kTraining);
  options.device = "cuda:0";
  Loader first(data, options);
  options.device = last;
  Loader second(data, options);
  options.device = "cuda:0";
  options.decode_device = last;
  Loader across(data, options);
  options.device = last;
  options.decode_device = "cuda:0";
  Loader back(data, options);
  std::vector<Epoch> epochs;
  for (Loader* const loader : {&first, &second, &across, &back}) epochs.push_back(loader->epoch(3));
  for (const HostBatch& batch : expected) {
    for (Epoch& epoch : epochs) check_same(host_batch(*epoch.next()), batch);
  }
}

TEST_CASE("a GPU that is not there is refused") {
  const PackedKinds images;
  LoaderOptions options = options_of({RandomResizedCrop{32}});
  options.device = "cuda:" + std::to_string(device_count());
  CHECK(code_of([&] { Loader loader(images.open(), options); }) == ErrorCode::unsupported);
  options.decode_device = options.device;
  options.device = "cuda:0";
  CHECK(code_of([&] { Loader loader(images.open(), options); }) == ErrorCode::unsupported);
}

}  // namespace

}  // namespace imgpack
