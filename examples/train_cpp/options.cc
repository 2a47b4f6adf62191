#include "examples/train_cpp/options.h"

#include <algorithm>
#include <map>
#include <string>

#include <CLI/CLI.hpp>

namespace trainer {

namespace {

std::string check_device(const std::string& text) {
  if (text == "cpu" || text == "cuda") return {};
  const std::string number = text.starts_with("cuda:") ? text.substr(5) : "";
  const bool digits = std::all_of(number.begin(), number.end(), [](char c) { return '0' <= c && c <= '9'; });
  return !number.empty() && number.size() < 3 && digits ? std::string() : "'" + text + "' is not cpu, cuda or cuda:N";
}

void declare_learning(CLI::App& app, Options& options) {
  app.add_option("--lr", options.learning_rate, "The highest learning rate")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  const std::map<std::string, ScheduleKind> schedules = {{"cosine", ScheduleKind::cosine},
                                                         {"one-cycle", ScheduleKind::one_cycle}};
  app.add_option("--schedule", options.schedule, "How the learning rate changes: cosine (default) or one-cycle")
      ->transform(CLI::CheckedTransformer(schedules));
  app.add_option("--warmup", options.warmup, "Epochs in which cosine's learning rate rises")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--momentum", options.momentum)->check(CLI::Range(0.0, 1.0))->capture_default_str();
  app.add_option("--weight-decay", options.weight_decay)->check(CLI::Range(0.0, 1.0))->capture_default_str();
  app.add_option("--label-smoothing", options.label_smoothing)->check(CLI::Range(0.0, 1.0))->capture_default_str();
}

}  // namespace

void declare_options(CLI::App& app, Options& options) {
  app.add_option("DATASET", options.dataset, "A packed dataset with the splits train and val")->required();
  app.add_option("--device", options.device, "cpu, cuda or cuda:N")->check(check_device)->capture_default_str();
  app.add_option("--loader-device", options.loader_device, "Where batches are made, if not on that of --device")
      ->check(check_device);
  app.add_flag("--autocast", options.autocast, "Compute in bfloat16 where that is good enough");
  app.add_option("--epochs", options.epochs)->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_option("--batch-size", options.batch_size)->check(CLI::Range(2, 65536))->capture_default_str();
  app.add_option("--size", options.size, "Height and width of the images that the network sees, pixels")
      ->check(CLI::Range(32, 1024))
      ->capture_default_str();
  app.add_option("--width", options.width, "Width multiplier of the network")
      ->check(CLI::Range(0.1, 4.0))
      ->capture_default_str();
  app.add_option("--crop-scale", options.crop_scale, "The least part of an image's area that is cut out for training")
      ->check(CLI::Range(0.01, 1.0))
      ->capture_default_str();
  declare_learning(app, options);
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_option("--threads", options.threads, "Threads that decode; 0: found while running")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  CLI::Option* const checkpoint =
      app.add_option("--checkpoint", options.checkpoint, "Written after each epoch, and when the run is stopped");
  app.add_flag("--resume", options.resume, "Go on from the checkpoint")->needs(checkpoint);
  app.add_option("--stop-after", options.stop_after, "Stop after so many steps, with a checkpoint")
      ->check(CLI::Range(1, 1000000000))
      ->needs(checkpoint);
}

}  // namespace trainer
