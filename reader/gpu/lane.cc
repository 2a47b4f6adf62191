#include "reader/gpu/lane.h"

#include <utility>

#include "reader/gpu/cuda_check.h"

namespace imgpack::gpu {

namespace {

/// In steps, so that batches of about the same size do not ask again and again.
std::size_t with_room(std::size_t bytes) {
  constexpr std::size_t kStep = std::size_t{4} << 20;
  return (bytes + kStep - 1) / kStep * kStep;
}

}  // namespace

Lane Lane::create() {
  Lane lane;
  lane.stream_ = Stream::create();
  return lane;
}

void Lane::reserve(std::size_t general_bytes, std::size_t coefficient_bytes) {
  if (general_bytes > general_.size()) {
    stream_.synchronize();
    general_ = DeviceBuffer();
    general_ = DeviceBuffer(with_room(general_bytes));
  }
  if (coefficient_bytes > coefficients_.size()) {
    stream_.synchronize();
    coefficients_ = DeviceBuffer();
    DeviceBuffer larger(with_room(coefficient_bytes));
    check(cudaMemsetAsync(larger.data(), 0, larger.size(), stream_.get()), "clearing coefficients");
    coefficients_ = std::move(larger);
  }
}

void Lane::recover() {
  stream_.synchronize();
  if (coefficients_.size() == 0) return;
  check(cudaMemsetAsync(coefficients_.data(), 0, coefficients_.size(), stream_.get()), "clearing coefficients");
}

}  // namespace imgpack::gpu
