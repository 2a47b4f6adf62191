// Batches as libtorch tensors. Part of imgpack::torch; needs libtorch 1.13 or later.
//
//   for (auto& batch : loader.epoch(e)) {
//     auto x = imgpack::torch::images(batch);
//     auto y = imgpack::torch::labels(batch);
//   }
//
// Tensors share the batch's memory, without a copy, and keep it alive: they may outlive the batch and its loader. Those
// of a batch on a CUDA device are there.
#pragma once

#include <ATen/ATen.h>

#include "imgpack/batch.h"

namespace imgpack::torch {

/// [N, 3, H, W] of the batch's dtype; with Layout::nhwc in memory format channels_last. An empty batch gives N = 0.
///
/// Of a batch on a CUDA device, this and the functions below call Batch::use_on() for libtorch's current stream of that
/// device, so that the tensor may be used there. What uses it on another stream needs a call of use_on() for that one
/// (Tensor::record_stream has no effect on the loader's memory). An older libtorch does not tell which stream
/// is the current one, if it is not the default stream: then this throws unsupported, and images(batch, stream) helps.
at::Tensor images(const Batch& batch);
/// [N] int64.
at::Tensor labels(const Batch& batch);
/// [N, classes] float32 with MixUp or CutMix; without them N x 0.
at::Tensor soft_labels(const Batch& batch);
/// [N] bool: false where a sample is not to be counted.
at::Tensor mask(const Batch& batch);

/// The same for use on `stream`, a cudaStream_t of the batch's device. On the CPU it has no meaning.
at::Tensor images(const Batch& batch, void* stream);
at::Tensor labels(const Batch& batch, void* stream);
at::Tensor soft_labels(const Batch& batch, void* stream);
at::Tensor mask(const Batch& batch, void* stream);

/// "uint8" as torch::kUInt8 and so on.
at::ScalarType scalar_type(DType dtype);
/// "cuda:1" as c10::Device(c10::kCUDA, 1) and so on.
at::Device device_of(const Batch& batch);

}  // namespace imgpack::torch
