#include "examples/train_cpp/mobilenet_v2.h"

#include <algorithm>

#include <torch/nn/functional/activation.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>

namespace trainer {

namespace {

namespace nn = torch::nn;

/// The nearest multiple of 8, not more than a tenth below `channels`.
std::int64_t rounded_channels(double channels) {
  const auto nearest = std::max<std::int64_t>(8, static_cast<std::int64_t>(channels + 4) / 8 * 8);
  return static_cast<double>(nearest) < 0.9 * channels ? nearest + 8 : nearest;
}

nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride = 1,
                       std::int64_t groups = 1) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).groups(groups).bias(false));
}

/// Convolution, batch norm, ReLU6. A module of its own, since a Sequential can't hold a Sequential.
class ConvNormReluImpl : public nn::Module {
 public:
  explicit ConvNormReluImpl(nn::Conv2d convolution)
      : convolution_(register_module("0", convolution)),
        norm_(register_module("1", nn::BatchNorm2d(convolution->options.out_channels()))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    return nn::functional::relu6(norm_(convolution_(x)), nn::functional::ReLU6FuncOptions().inplace(true));
  }

 private:
  nn::Conv2d convolution_;
  nn::BatchNorm2d norm_;
};
TORCH_MODULE(ConvNormRelu);

/// Expand the channels, filter each of them, project to few again; with a shortcut where the shapes allow it.
class InvertedResidualImpl : public nn::Module {
 public:
  InvertedResidualImpl(std::int64_t in, std::int64_t out, std::int64_t stride, std::int64_t expansion)
      : shortcut_(stride == 1 && in == out) {
    const std::int64_t hidden = in * expansion;
    if (expansion != 1) layers_->push_back(ConvNormRelu(convolution(in, hidden, 1)));
    layers_->push_back(ConvNormRelu(convolution(hidden, hidden, 3, stride, hidden)));
    layers_->push_back(convolution(hidden, out, 1));
    layers_->push_back(nn::BatchNorm2d(out));
    register_module("conv", layers_);
  }

  torch::Tensor forward(const torch::Tensor& x) { return shortcut_ ? x + layers_->forward(x) : layers_->forward(x); }

 private:
  bool shortcut_;
  nn::Sequential layers_;
};
TORCH_MODULE(InvertedResidual);

/// A row of the paper's table 2: `count` blocks, of which the first has the stride.
struct Stage {
  std::int64_t expansion;
  std::int64_t channels;
  std::int64_t count;
  std::int64_t stride;
};
constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                             {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
constexpr double kFirstChannels = 32;
constexpr double kLastChannels = 1280;
constexpr double kDropout = 0.2;

/// A batch norm begins as the identity by itself.
void initialize(nn::Module& module) {
  if (auto* const convolution = module.as<nn::Conv2d>()) {
    nn::init::kaiming_normal_(convolution->weight, 0, torch::kFanOut);
  } else if (auto* const linear = module.as<nn::Linear>()) {
    nn::init::normal_(linear->weight, 0, 0.01);
    nn::init::zeros_(linear->bias);
  }
}

}  // namespace

MobileNetV2Impl::MobileNetV2Impl(std::int64_t classes, double width) {
  std::int64_t channels = rounded_channels(kFirstChannels * width);
  const std::int64_t last = rounded_channels(kLastChannels * std::max(1.0, width));
  features_->push_back(ConvNormRelu(convolution(3, channels, 3, 2)));
  for (const Stage& stage : kStages) {
    const std::int64_t out = rounded_channels(static_cast<double>(stage.channels) * width);
    for (std::int64_t i = 0; i < stage.count; ++i) {
      features_->push_back(InvertedResidual(channels, out, i == 0 ? stage.stride : 1, stage.expansion));
      channels = out;
    }
  }
  features_->push_back(ConvNormRelu(convolution(channels, last, 1)));
  classifier_->push_back(nn::Dropout(kDropout));
  classifier_->push_back(nn::Linear(last, classes));
  register_module("features", features_);
  register_module("classifier", classifier_);
  apply(initialize);
}

torch::Tensor MobileNetV2Impl::forward(torch::Tensor x) {
  return classifier_->forward(features_->forward(x).mean({2, 3}));
}

}  // namespace trainer
