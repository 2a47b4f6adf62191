#include "examples/train_cpp/autocast.h"

#include <ATen/autocast_mode.h>
#include <fmt/format.h>
#include <torch/nn/functional/activation.h>
#include <torch/types.h>
#include <torch/version.h>

#include "imgpack/error.h"

namespace trainer {

namespace {

void set_bfloat16(c10::DeviceType type, bool enabled) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  at::autocast::set_autocast_dtype(type, at::kBFloat16);
  at::autocast::set_autocast_enabled(type, enabled);
#else
  if (type == c10::DeviceType::CUDA) {
    at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
    at::autocast::set_enabled(enabled);
  } else {
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_cpu_enabled(enabled);
  }
#endif
}

}  // namespace

Autocast::Autocast(bool enabled, c10::DeviceType type) : enabled_(enabled), type_(type) {
  if (enabled_) set_bfloat16(type_, true);
}

/// The cache of converted weights is good until the next step of the optimizer.
Autocast::~Autocast() {
  if (!enabled_) return;
  set_bfloat16(type_, false);
  at::autocast::clear_cache();
}

void check_autocast(c10::Device device) {
  try {
    const torch::Tensor x = torch::zeros({1}, torch::TensorOptions(device).dtype(torch::kBFloat16).requires_grad(true));
    torch::nn::functional::relu6(x).backward();
  } catch (const c10::Error& error) {
    throw imgpack::Error(imgpack::ErrorCode::unsupported,
                         fmt::format("--autocast: libtorch {}.{} can't do that on {}: {}", TORCH_VERSION_MAJOR,
                                     TORCH_VERSION_MINOR, device.str(), error.what_without_backtrace()));
  }
}

}  // namespace trainer
