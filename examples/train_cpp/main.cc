// imgpack_train: trains a MobileNetV2 on a packed dataset, with libtorch.
//   imgpack_train imagenet.rec --epochs 90 --batch-size 256 --checkpoint run.ckpt
// Ctrl-C, or a job system's SIGTERM, ends it after the step that is under way; the same command with --resume goes on.
#include <atomic>
#include <csignal>
#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>

#include "examples/train_cpp/options.h"
#include "examples/train_cpp/trainer.h"

namespace {

std::atomic<bool> stop = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler may write it

/// The second signal ends the process at once.
void ask_to_stop(int number) {
  stop = true;
  std::signal(number, SIG_DFL);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains a MobileNetV2 on a packed dataset.", "imgpack_train");
  trainer::Options options;
  trainer::declare_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  try {
    if (trainer::train(options, stop, std::cout) == trainer::Ending::stopped) {
      std::cout << "stopped" << (options.checkpoint.empty() ? "" : "; the same command with --resume goes on") << '\n';
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "imgpack_train: " << error.what() << '\n';
    return 1;
  }
}
