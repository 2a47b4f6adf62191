// What the command line of imgpack_train says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "examples/train_cpp/schedule.h"

namespace CLI {
class App;
}  // namespace CLI

namespace trainer {

struct Options {
  std::filesystem::path dataset;  ///< any packed format, with splits train and val
  std::string device = "cpu";     ///< "cpu", "cuda" or "cuda:N"
  std::string loader_device;      ///< where batches are made; empty: on `device`
  bool autocast = false;          ///< compute in bfloat16 where that is good enough
  unsigned epochs = 30;
  std::uint32_t batch_size = 64;
  std::uint32_t size = 224;  ///< pixels, height and width of what the network sees
  double width = 1;          ///< of the network's layers, 1: as published
  double crop_scale = 0.08;  ///< the least area of a training crop, of the image's

  double learning_rate = 0.05;  ///< the highest
  ScheduleKind schedule = ScheduleKind::cosine;
  double warmup = 1;  ///< epochs
  double momentum = 0.9;
  double weight_decay = 4e-5;
  double label_smoothing = 0;

  std::uint64_t seed = 0;
  unsigned threads = 0;              ///< that decode; 0: found while running
  std::filesystem::path checkpoint;  ///< empty: none is written
  bool resume = false;
  std::uint64_t stop_after = 0;  ///< steps of this run; 0: none
};

/// Declares the options, which parsing then fills. `options` must outlive `app`.
void declare_options(CLI::App& app, Options& options);

}  // namespace trainer
