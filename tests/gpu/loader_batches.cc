#include "tests/gpu/loader_batches.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <utility>

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

/// Floating-point bits in an order of their values.
template <class Bits>
std::int64_t rank_of(const std::byte* at) {
  Bits bits = 0;
  std::memcpy(&bits, at, sizeof(bits));
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  const auto magnitude = static_cast<std::int64_t>(bits & static_cast<Bits>(~kSign));
  return (bits & kSign) != 0 ? -magnitude : magnitude;
}

template <class Bits>
std::uint64_t most_apart(const HostBatch& first, const HostBatch& second) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < first.images.size(); i += sizeof(Bits)) {
    most = std::max(most, std::abs(rank_of<Bits>(&first.images[i]) - rank_of<Bits>(&second.images[i])));
  }
  return static_cast<std::uint64_t>(most);
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

std::uint64_t most_ulps(const HostBatch& first, const HostBatch& second) {
  switch (size_of(first.dtype)) {
    case 4:
      return most_apart<std::uint32_t>(first, second);
    case 2:
      return most_apart<std::uint16_t>(first, second);
    default:
      return first.images == second.images ? 0 : 1;
  }
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
  CHECK(most_ulps(first, second) <= (first.dtype == DType::u8 ? 0 : 1));
}

void check_same(const std::vector<HostBatch>& first, const std::vector<HostBatch>& second) {
  REQUIRE(first.size() == second.size());
  for (std::size_t i = 0; i < first.size(); ++i) check_same(first[i], second[i]);
}

}  // namespace imgpack::testing
