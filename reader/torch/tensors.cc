#include "imgpack/torch/tensors.h"

#include <ATen/ops/from_blob.h>

#include <utility>

#include "imgpack/error.h"
#include "reader/torch/current_stream.h"

namespace imgpack::torch {

namespace {

/// A tensor over part of a batch's memory, which it keeps. Memory must not be null: libtorch would not call the
/// deleter.
at::Tensor share(const Batch& batch, void* data, at::IntArrayRef sizes, at::IntArrayRef strides, at::ScalarType type) {
  const at::Device device = device_of(batch);
  const at::TensorOptions options = at::TensorOptions(type).device(device);
  if (data == nullptr || sizes[0] == 0) return at::empty_strided(sizes, strides, options);
  return at::from_blob(
      data, sizes, strides, [owner = batch.owner()](void*) {}, options, device);
}

at::Tensor shared_images(const Batch& batch) {
  return share(batch, batch.images().data(), batch.shape(), batch.strides(), scalar_type(batch.dtype()));
}

at::Tensor shared_labels(const Batch& batch) {
  return share(batch, batch.device_labels().data(), {batch.size()}, {1}, at::kLong);
}

at::Tensor shared_soft_labels(const Batch& batch) {
  return share(batch, batch.device_soft_labels().data(), {batch.size(), batch.soft_classes()},
               {batch.soft_classes(), 1}, at::kFloat);
}

at::Tensor shared_mask(const Batch& batch) {
  auto* const values = const_cast<std::uint8_t*>(batch.device_mask().data());  // 0 or 1, as a bool is stored
  return share(batch, values, {batch.size()}, {1}, at::kBool);
}

void use_on_current_stream(const Batch& batch) {
  if (batch.device().is_cuda()) batch.use_on(current_stream(device_of(batch)));
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

at::Device device_of(const Batch& batch) {
  const Device device = batch.device();
  return device.is_cuda() ? at::Device(at::kCUDA, static_cast<at::DeviceIndex>(device.index)) : at::Device(at::kCPU);
}

at::Tensor images(const Batch& batch) {
  use_on_current_stream(batch);
  return shared_images(batch);
}

at::Tensor labels(const Batch& batch) {
  use_on_current_stream(batch);
  return shared_labels(batch);
}

at::Tensor soft_labels(const Batch& batch) {
  use_on_current_stream(batch);
  return shared_soft_labels(batch);
}

at::Tensor mask(const Batch& batch) {
  use_on_current_stream(batch);
  return shared_mask(batch);
}

at::Tensor images(const Batch& batch, void* stream) {
  batch.use_on(stream);
  return shared_images(batch);
}

at::Tensor labels(const Batch& batch, void* stream) {
  batch.use_on(stream);
  return shared_labels(batch);
}

at::Tensor soft_labels(const Batch& batch, void* stream) {
  batch.use_on(stream);
  return shared_soft_labels(batch);
}

at::Tensor mask(const Batch& batch, void* stream) {
  batch.use_on(stream);
  return shared_mask(batch);
}

}  // namespace imgpack::torch
