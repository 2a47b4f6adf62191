// Files from which a run goes on: weights, the optimizer's momentum, and where the loader stood.
//
// A checkpoint is a TorchScript archive: torch.jit.load() in Python reads it too, and its `model` has the names of
// torchvision's MobileNetV2.
#pragma once

#include <cstdint>
#include <filesystem>

#include <torch/optim/optimizer.h>

#include "examples/train_cpp/mobilenet_v2.h"
#include "imgpack/loader_state.h"

namespace trainer {

/// What decides which weights there are.
struct Architecture {
  std::int64_t classes = 0;
  double width = 1;
  bool operator==(const Architecture&) const = default;
};

/// Where a run stands.
struct Position {
  imgpack::LoaderState loader;
  torch::Tensor loss_sum;          ///< float64 scalar: of the epoch's samples so far
  std::uint64_t loss_samples = 0;  ///< of the epoch so far
};

/// Replaces the file as a whole: whenever the process is killed, the old or the new one is there.
void save_checkpoint(const std::filesystem::path& path, const Architecture& architecture, const Position& position,
                     const MobileNetV2& model, const torch::optim::Optimizer& optimizer);

/// Fills model and optimizer. Throws imgpack::Error: not_found, invalid_argument for another architecture, damaged.
Position load_checkpoint(const std::filesystem::path& path, const Architecture& architecture, MobileNetV2& model,
                         torch::optim::Optimizer& optimizer, torch::Device device);

}  // namespace trainer
