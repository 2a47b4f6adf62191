// A loader as a dataset of torch::data, for programs that are written around its data loader.
//
//   auto loader = torch::data::make_data_loader(imgpack::torch::BatchDataset(std::move(imgpack_loader)));
//   for (auto& example : *loader) train(example.data, example.target);   // each begin() is the next epoch
#pragma once

#include <memory>

#include <torch/data/dataloader.h>
#include <torch/data/datasets/stateful.h>
#include <torch/data/example.h>

#include "imgpack/loader.h"

namespace imgpack::torch {

/// Gives whole batches: `data` is images(), `target` labels() or, with MixUp or CutMix, soft_labels(). Batch size,
/// threads and order are the loader's; DataLoaderOptions' are of no meaning, and its workers would only wait for the
/// loader's threads (0 is right; of a CUDA device, tensors are for the current stream of the thread that calls
/// get_batch()). Thread-safe where torch::data needs it: get_batch(). Copies share one loader.
///
/// save() and load() keep the loader's state: what was fetched, not what was used, counts.
class BatchDataset : public ::torch::data::datasets::StatefulDataset<BatchDataset, ::torch::data::Example<>> {
 public:
  explicit BatchDataset(Loader loader);

  /// Begins the next epoch, or goes on after load().
  void reset() override;
  /// The next batch of the epoch, or nothing. Throws what Epoch::next() throws.
  BatchType get_batch(std::size_t ignored) override;
  /// Samples of an epoch, of all ranks.
  c10::optional<std::size_t> size() const override;
  void save(::torch::serialize::OutputArchive& archive) const override;
  void load(::torch::serialize::InputArchive& archive) override;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace imgpack::torch
