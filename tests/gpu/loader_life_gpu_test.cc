// What may happen to a loader on a GPU while it runs: streams that lag behind, consumers that keep, leave, throw or
// fork, memory that runs out.
#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>

#include "imgpack/loader.h"
#include "reader/gpu/cuda_check.h"
#include "reader/gpu/cuda_handles.h"
#include "reader/loader_testing.h"
#include "tests/gpu/loader_batches.h"
#include "tests/support/thrown.h"

namespace imgpack {

namespace {

using testing::check_same;
using testing::error_of;
using testing::host_batch;
using testing::host_batches;
using testing::HostBatch;
using testing::in_child;
using testing::PackedKinds;

LoaderOptions gpu_options(std::uint32_t batch_size = 8) {
  return {.split = "train",
          .batch_size = batch_size,
          .device = "cuda",
          .seed = 7,
          .transform = {RandomResizedCrop{32}, HorizontalFlip{}, Normalize::imagenet()},
          .threads = 2};
}

std::vector<HostBatch> on_cpu(const Dataset& data, std::uint64_t epoch, std::uint32_t batch_size = 8) {
  LoaderOptions options = gpu_options(batch_size);
  options.device = "cpu";
  Loader loader(data, options);
  return host_batches(loader.epoch(epoch));
}

TEST_CASE("batches on a GPU that are kept are never overwritten, and outlive their loader") {
  const PackedKinds images;
  const Dataset data = images.open();
  std::vector<Batch> kept;
  {
    Loader loader(data, gpu_options(4));
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (Batch& batch : loader.epoch()) kept.push_back(batch);
    }
  }
  REQUIRE(kept.size() == 45);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    const std::vector<HostBatch> expected = on_cpu(data, epoch, 4);
    for (std::size_t i = 0; i < expected.size(); ++i) check_same(host_batch(kept[epoch * 15 + i]), expected[i]);
  }
}

/// The consumer's stream is always some batches behind, and its handles are gone before it has read them.
TEST_CASE("the loader waits for the streams that a batch was used on before it writes its memory again") {
  const PackedKinds images;
  const Dataset data = images.open();
  LoaderOptions options = gpu_options();
  options.prefetch_batches = 2;
  Loader loader(data, options);
  const gpu::Stream stream = gpu::Stream::create();
  const std::size_t bytes = 8 * 3 * 32 * 32 * sizeof(float);
  const gpu::PinnedBuffer copies(24 * bytes);
  std::size_t count = 0;
  std::vector<std::size_t> sizes;
  for (std::uint64_t number = 0; number < 3; ++number) {
    for (Batch& batch : loader.epoch(number)) {
      batch.use_on(stream.get());
      gpu::check(cudaLaunchHostFunc(
                     stream.get(), [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }, nullptr),
                 "being slow");
      gpu::check(cudaMemcpyAsync(copies.data() + count * bytes, batch.images().data(), batch.images().size(),
                                 cudaMemcpyDeviceToHost, stream.get()),
                 "copying");
      sizes.push_back(batch.images().size());
      ++count;
      batch = Batch();
    }
  }
  stream.synchronize();
  REQUIRE(count == 24);
  for (std::uint64_t number = 0; number < 3; ++number) {
    const std::vector<HostBatch> expected = on_cpu(data, number);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::size_t at = number * 8 + i;
      HostBatch seen = expected[i];
      seen.images.assign(copies.data() + at * bytes, copies.data() + at * bytes + sizes[at]);
      check_same(seen, expected[i]);
    }
  }
}

TEST_CASE("an epoch on a GPU may be left early, by an exception, and replaced; a second loader works") {
  const PackedKinds images;
  const Dataset data = images.open();
  const std::vector<HostBatch> expected = on_cpu(data, 5);
  {
    Loader loader(data, gpu_options());
    for (int i = 0; i < 20; ++i) {
      for (Batch& batch : loader.epoch()) {
        if (batch.step() == static_cast<std::uint64_t>(i % 3)) break;
      }
    }
    CHECK_THROWS_AS(
        [&] {
          for (Batch& batch : loader.epoch()) throw std::runtime_error(std::to_string(batch.size()));
        }(),
        std::runtime_error);
    check_same(host_batches(loader.epoch(5)), expected);
    loader.epoch().next();  // and gone while the device works
  }
  for (int i = 0; i < 5; ++i) {
    Loader loader(data, gpu_options());
    check_same(host_batches(loader.epoch(5)), expected);
  }
}

TEST_CASE("device memory that runs out is an error, and nothing is lost by it") {
  const PackedKinds images;
  const Dataset data = images.open();
  LoaderOptions options = gpu_options(1u << 24);
  options.transform = {RandomResizedCrop{512}};
  const Error error = error_of([&] {
    Loader loader(data, options);
    host_batches(loader.epoch());
  });
  CHECK(error.code() == ErrorCode::out_of_memory);
  Loader loader(data, gpu_options());
  check_same(host_batches(loader.epoch(1)), on_cpu(data, 1));
}

TEST_CASE("device memory is given back") {
  const PackedKinds images;
  const Dataset data = images.open();
  const auto free_memory = [] {
    std::size_t free = 0, total = 0;
    gpu::check(cudaMemGetInfo(&free, &total), "asking for free memory");
    return free;
  };
  const auto use = [&] {
    Loader loader(data, gpu_options());
    std::optional<Batch> kept = loader.epoch().next();
  };
  use();  // what CUDA itself keeps is there now
  const std::size_t before = free_memory();
  for (int i = 0; i < 10; ++i) use();
  CHECK(free_memory() + (std::size_t{16} << 20) >= before);
}

#if !defined(__SANITIZE_THREAD__)
TEST_CASE("a child process is told that CUDA does not work there, and may destroy what it has of its parent") {
  const PackedKinds images;
  const Dataset data = images.open();
  std::optional<Loader> loader(std::in_place, data, gpu_options());
  std::optional<Epoch> epoch(loader->epoch(0));
  std::optional<Batch> batch = epoch->next();
  const auto refused = [](auto&& action) {
    try {
      action();
      return false;
    } catch (const Error& error) {
      return error.code() == ErrorCode::unsupported && error.message().find("spawn") != std::string::npos;
    }
  };
  CHECK(in_child([&] {
          if (!refused([&] { batch->use_on(nullptr); })) return 1;
          if (!refused([&] { epoch->next(); })) return 2;
          if (!refused([&] { loader->epoch(1); })) return 3;
          return 0;
        }) == 0);
  CHECK(in_child([&] {
          loader.reset();
          batch.reset();
          epoch.reset();
          return 0;
        }) == 0);
  const std::vector<HostBatch> expected = on_cpu(data, 0);
  check_same(host_batch(*batch), expected[0]);
  for (std::size_t i = 1; i < expected.size(); ++i) check_same(host_batch(*epoch->next()), expected[i]);
}
#endif

}  // namespace

}  // namespace imgpack
