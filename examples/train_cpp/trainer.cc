#include "examples/train_cpp/trainer.h"

#include <chrono>
#include <optional>
#include <ostream>

#include <fmt/format.h>
#include <torch/cuda.h>
#include <torch/nn/functional/loss.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>

#include "examples/train_cpp/autocast.h"
#include "examples/train_cpp/checkpoint.h"
#include "examples/train_cpp/data.h"
#include "examples/train_cpp/mobilenet_v2.h"
#include "imgpack/error.h"
#include "imgpack/torch/tensors.h"

namespace trainer {

namespace {

using imgpack::Batch;
using imgpack::LoaderState;
using Clock = std::chrono::steady_clock;

torch::Device device_of(const Options& options) {
  const torch::Device device(options.device);
  if (device.is_cuda() && !torch::cuda::is_available()) {
    throw imgpack::Error(imgpack::ErrorCode::unsupported,
                         fmt::format("--device {}: this libtorch sees no CUDA device", options.device));
  }
  return device;
}

/// For what is drawn in one step (dropout): from the place in the run alone, so that a resumed run draws the same.
std::uint64_t seed_of(const LoaderState& place) {
  return place.seed + place.epoch * 0x9e3779b97f4a7c15U + place.samples * 0xbf58476d1ce4e5b9U;
}

class Run {
 public:
  Run(const Options& options, const std::atomic<bool>& stop, std::ostream& out);
  Ending run();

 private:
  /// Whether it came to the epoch's end.
  bool train_epoch();
  void step(const Batch& batch);
  torch::Tensor loss_of(const torch::Tensor& images, const torch::Tensor& labels);
  double top1();
  bool should_stop() const { return stop_ || (options_.stop_after != 0 && steps_ >= options_.stop_after); }
  void save() const;
  void resume();

  const Options& options_;
  const std::atomic<bool>& stop_;
  std::ostream& out_;
  torch::Device device_;
  Data data_;
  Architecture architecture_;
  Schedule schedule_;
  MobileNetV2 model_ = nullptr;
  std::optional<torch::optim::SGD> optimizer_;
  Position position_;
  std::uint64_t steps_ = 0;       ///< of this run
  double images_per_second_ = 0;  ///< in the epoch, or in its part in this run
};

Run::Run(const Options& options, const std::atomic<bool>& stop, std::ostream& out)
    : options_(options),
      stop_(stop),
      out_(out),
      device_(device_of(options)),
      data_(open_data(options)),
      architecture_{.classes = data_.classes, .width = options.width},
      schedule_{.kind = options.schedule, .peak = options.learning_rate, .warmup = options.warmup / options.epochs} {
  if (options.autocast) check_autocast(device_);
  torch::manual_seed(options.seed);
  model_ = MobileNetV2(architecture_.classes, architecture_.width);
  model_->to(device_);
  optimizer_.emplace(
      model_->parameters(),
      torch::optim::SGDOptions(options.learning_rate).momentum(options.momentum).weight_decay(options.weight_decay));
  position_.loader = data_.train.state();
  position_.loss_sum = torch::zeros({}, torch::TensorOptions(device_).dtype(torch::kDouble));
  out_ << fmt::format("{} images to train on, {} to check, {} classes; the most frequent one is {:.1f} % of val\n",
                      data_.train.samples(), data_.val.samples(), data_.classes, 100 * data_.majority);
  if (options.resume) resume();
}

Ending Run::run() {
  while (position_.loader.epoch < options_.epochs) {
    const std::uint64_t number = position_.loader.epoch + 1;  // people count from 1
    if (!train_epoch()) {
      save();
      return Ending::stopped;
    }
    const double loss = position_.loss_sum.item<double>() / static_cast<double>(position_.loss_samples);
    out_ << fmt::format("epoch {}/{}: loss {:.4f}, top-1 {:.1f} %, {:.0f} images/s\n", number, options_.epochs, loss,
                        100 * top1(), images_per_second_)
         << std::flush;
    position_.loss_sum.zero_();
    position_.loss_samples = 0;
    save();
    if (should_stop() && number < options_.epochs) return Ending::stopped;
  }
  return Ending::finished;
}

bool Run::train_epoch() {
  model_->train();
  const auto start = Clock::now();
  std::uint64_t images = 0;
  imgpack::Epoch epoch = data_.train.epoch();
  for (const Batch& batch : epoch) {
    step(batch);
    images += batch.size();
    ++steps_;
    position_.loader = batch.state();
    if (should_stop() && epoch.batches_left() > 0) return false;
  }
  static_cast<void>(position_.loss_sum.item<double>());  // waits for a GPU
  images_per_second_ = static_cast<double>(images) / std::chrono::duration<double>(Clock::now() - start).count();
  return true;
}

void Run::step(const Batch& batch) {
  const LoaderState& place = position_.loader;
  const double epochs_done = static_cast<double>(place.epoch) +
                             static_cast<double>(place.samples) / static_cast<double>(data_.train.samples());
  const double rate = learning_rate(schedule_, epochs_done / options_.epochs);
  for (torch::optim::OptimizerParamGroup& group : optimizer_->param_groups()) group.options().set_lr(rate);
  torch::manual_seed(seed_of(place));

  const torch::Tensor images = imgpack::torch::images(batch).to(device_, /*non_blocking=*/true);
  const torch::Tensor labels = imgpack::torch::labels(batch).to(device_, /*non_blocking=*/true);
  const torch::Tensor loss = loss_of(images, labels);
  optimizer_->zero_grad();
  loss.backward();
  optimizer_->step();
  position_.loss_sum += loss.detach().to(torch::kDouble) * static_cast<double>(batch.size());
  position_.loss_samples += batch.size();
}

torch::Tensor Run::loss_of(const torch::Tensor& images, const torch::Tensor& labels) {
  const Autocast autocast(options_.autocast, device_.type());
  return torch::nn::functional::cross_entropy(
      model_->forward(images), labels,
      torch::nn::functional::CrossEntropyFuncOptions().label_smoothing(options_.label_smoothing));
}

/// Of the images of val, how many the network gives their class, 0 to 1.
double Run::top1() {
  const torch::NoGradGuard no_grad;
  const Autocast autocast(options_.autocast, device_.type());
  model_->eval();
  torch::Tensor right = torch::zeros({}, torch::TensorOptions(device_).dtype(torch::kLong));
  std::int64_t counted = 0;
  for (const Batch& batch : data_.val.epoch(0)) {
    const torch::Tensor mask = imgpack::torch::mask(batch);  // false for the padding of the last batch
    const torch::Tensor labels = imgpack::torch::labels(batch).to(device_, /*non_blocking=*/true);
    const torch::Tensor answers = model_->forward(imgpack::torch::images(batch).to(device_, true)).argmax(1);
    right += (answers.eq(labels) & mask.to(device_)).sum();
    counted += mask.sum().item<std::int64_t>();
  }
  return static_cast<double>(right.item<std::int64_t>()) / static_cast<double>(counted);
}

void Run::save() const {
  if (!options_.checkpoint.empty()) {
    save_checkpoint(options_.checkpoint, architecture_, position_, model_, *optimizer_);
  }
}

void Run::resume() {
  position_ = load_checkpoint(options_.checkpoint, architecture_, model_, *optimizer_, device_);
  data_.train.restore(position_.loader);
  out_ << fmt::format("going on in epoch {}, after {} of its {} images\n", position_.loader.epoch + 1,
                      position_.loader.samples, data_.train.samples());
}

}  // namespace

Ending train(const Options& options, const std::atomic<bool>& stop, std::ostream& out) {
  return Run(options, stop, out).run();
}

}  // namespace trainer
