#include "imgpack/torch/batch_dataset.h"

#include <torch/serialize/archive.h>

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "imgpack/torch/tensors.h"

namespace imgpack::torch {

namespace {

constexpr const char* kStateKey = "imgpack_loader_state";

}  // namespace

struct BatchDataset::State {
  explicit State(Loader loader_) : loader(std::move(loader_)) {}

  std::mutex mutex;
  Loader loader;
  std::optional<Epoch> epoch;
};

BatchDataset::BatchDataset(Loader loader) : state_(std::make_shared<State>(std::move(loader))) {}

void BatchDataset::reset() {
  const std::lock_guard lock(state_->mutex);
  state_->epoch.emplace(state_->loader.epoch());
}

BatchDataset::BatchType BatchDataset::get_batch(std::size_t) {
  const std::lock_guard lock(state_->mutex);
  if (!state_->epoch) state_->epoch.emplace(state_->loader.epoch());
  const std::optional<Batch> batch = state_->epoch->next();
  if (!batch) return {};
  return ::torch::data::Example<>(images(*batch), batch->soft_classes() != 0 ? soft_labels(*batch) : labels(*batch));
}

c10::optional<std::size_t> BatchDataset::size() const {
  return static_cast<std::size_t>(state_->loader.samples());
}

void BatchDataset::save(::torch::serialize::OutputArchive& archive) const {
  const std::lock_guard lock(state_->mutex);
  archive.write(kStateKey, c10::IValue(state_->loader.state().to_json()));
}

void BatchDataset::load(::torch::serialize::InputArchive& archive) {
  c10::IValue value;
  archive.read(kStateKey, value);
  const std::lock_guard lock(state_->mutex);
  state_->epoch.reset();
  state_->loader.restore(LoaderState::from_json(value.toStringRef()));
}

}  // namespace imgpack::torch
