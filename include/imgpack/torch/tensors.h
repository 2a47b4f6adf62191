// Batches as libtorch tensors. Part of imgpack::torch; needs libtorch 1.13 or later.
//
//   for (auto& batch : loader.epoch(e)) {
//     auto x = imgpack::torch::images(batch);
//     auto y = imgpack::torch::labels(batch);
//   }
//
// Tensors share the batch's memory, without a copy, and keep it alive: they may outlive the batch and its loader.
#pragma once

#include <ATen/ATen.h>

#include "imgpack/batch.h"

namespace imgpack::torch {

/// [N, 3, H, W] of the batch's dtype; with Layout::nhwc in memory format channels_last. An empty batch gives N = 0.
at::Tensor images(const Batch& batch);
/// [N] int64.
at::Tensor labels(const Batch& batch);
/// [N, classes] float32 with MixUp or CutMix; without them N x 0.
at::Tensor soft_labels(const Batch& batch);
/// [N] bool: false where a sample is not to be counted.
at::Tensor mask(const Batch& batch);

/// "uint8" as torch::kUInt8 and so on.
at::ScalarType scalar_type(DType dtype);

}  // namespace imgpack::torch
