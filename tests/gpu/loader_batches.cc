#include "tests/gpu/loader_batches.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <type_traits>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "imgpack/build.h"
#include "reader/gpu/cuda_check.h"
#include "tests/support/images.h"

namespace imgpack::testing {

namespace {

template <class Value>
std::vector<Value> copy_of(std::span<Value> values, bool device) {
  std::vector<std::remove_const_t<Value>> copy(values.size());
  if (!device) {
    std::copy(values.begin(), values.end(), copy.begin());
  } else if (!values.empty()) {
    gpu::check(cudaMemcpy(copy.data(), values.data(), values.size_bytes(), cudaMemcpyDeviceToHost), "copying a batch");
  }
  return copy;
}

}  // namespace

PackedKinds::PackedKinds() : path_(dir_ / "out.rec") {
  const std::filesystem::path folder = dir_ / "images";
  make_image_folder(folder, 3, 16);
  for (int i = 0; i < 6; ++i) {
    const std::filesystem::path train = folder / "train" / fmt::format("n{:08d}", i % 3 + 1);
    const auto seed = static_cast<std::uint32_t>(900 + i);
    write_file(train / fmt::format("progressive_{}.JPEG", i), make_jpeg(60 + i, 50, seed, {.progressive = true}));
    write_file(train / fmt::format("png_{}.png", i), make_png(50, 60 + i, seed));
  }
  build(folder, path_, {});
}

HostBatch host_batch(const Batch& batch) {
  const bool device = batch.device().is_cuda();
  if (device) batch.use_on(nullptr);
  return {.dtype = batch.dtype(),
          .images = copy_of(batch.images(), device),
          .labels = copy_of(batch.device_labels(), device),
          .soft_labels = copy_of(batch.device_soft_labels(), device),
          .mask = copy_of(std::span(const_cast<std::uint8_t*>(batch.device_mask().data()), batch.size()), device),
          .records = {batch.records().begin(), batch.records().end()},
          .step = batch.step()};
}

std::vector<HostBatch> host_batches(Epoch epoch) {
  std::vector<HostBatch> batches;
  for (const Batch& batch : epoch) batches.push_back(host_batch(batch));
  return batches;
}

void check_same(const HostBatch& first, const HostBatch& second) {
  CAPTURE(first.step);
  CHECK(first.step == second.step);
  CHECK(first.records == second.records);
  CHECK(first.labels == second.labels);
  CHECK(first.soft_labels == second.soft_labels);
  CHECK(first.mask == second.mask);
  REQUIRE(first.dtype == second.dtype);
  REQUIRE(first.images.size() == second.images.size());
  const auto different = std::mismatch(first.images.begin(), first.images.end(), second.images.begin()).first;
  CAPTURE(different - first.images.begin());  // in bytes
  CHECK(first.images == second.images);
}

void check_same(const std::vector<HostBatch>& first, const std::vector<HostBatch>& second) {
  REQUIRE(first.size() == second.size());
  for (std::size_t i = 0; i < first.size(); ++i) check_same(first[i], second[i]);
}

}  // namespace imgpack::testing
