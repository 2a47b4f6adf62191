// MobileNetV2 (Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", 2018), as torchvision builds
// it: parameters and buffers have the same names, shapes and initial distributions.
#pragma once

#include <cstdint>

#include <torch/nn/module.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/pimpl.h>

namespace trainer {

class MobileNetV2Impl : public torch::nn::Module {
 public:
  /// Weights are drawn from torch's default generator. `width` multiplies the number of channels, rounded to multiples
  /// of 8.
  explicit MobileNetV2Impl(std::int64_t classes, double width = 1);

  /// [N, 3, H, W] -> [N, classes], logits. H and W of at least 32 pixels.
  torch::Tensor forward(torch::Tensor x);

 private:
  torch::nn::Sequential features_;
  torch::nn::Sequential classifier_;
};
TORCH_MODULE(MobileNetV2);

}  // namespace trainer
