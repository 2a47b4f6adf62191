#include "imgpack/torch/tensors.h"

#include <ATen/ops/from_blob.h>

#include <utility>

#include "imgpack/error.h"

namespace imgpack::torch {

namespace {

/// A tensor over part of a batch's memory, which it keeps. Memory must not be null: libtorch would not call the
/// deleter.
at::Tensor share(const Batch& batch, void* data, at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType type) {
  if (data == nullptr) return at::empty_strided(sizes, strides, at::TensorOptions(type));
  return at::from_blob(
      data, sizes, strides, [owner = batch.owner()](void*) {}, at::TensorOptions(type));
}

}  // namespace

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::u8:
      return at::kByte;
    case DType::f32:
      return at::kFloat;
    case DType::f16:
      return at::kHalf;
    case DType::bf16:
      return at::kBFloat16;
  }
  throw Error(ErrorCode::invalid_argument, "there is no such dtype");
}

at::Tensor images(const Batch& batch) {
  return share(batch, batch.images().data(), batch.shape(), batch.strides(), scalar_type(batch.dtype()));
}

at::Tensor labels(const Batch& batch) {
  return share(batch, batch.labels().data(), {batch.size()}, {1}, at::kLong);
}

at::Tensor soft_labels(const Batch& batch) {
  return share(batch, batch.soft_labels().data(), {batch.size(), batch.soft_classes()}, {batch.soft_classes(), 1},
               at::kFloat);
}

at::Tensor mask(const Batch& batch) {
  auto* const values = const_cast<std::uint8_t*>(batch.mask().data());  // 0 or 1, as a bool is stored
  return share(batch, values, {batch.size()}, {1}, at::kBool);
}

}  // namespace imgpack::torch
