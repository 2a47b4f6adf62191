// The two loaders of a training run, and what the run must know of the dataset.
#pragma once

#include <cstdint>

#include "examples/train_cpp/options.h"
#include "imgpack/dataset.h"
#include "imgpack/loader.h"

namespace trainer {

struct Data {
  imgpack::Dataset dataset;
  std::int64_t classes = 0;  ///< those that have a name or, without names, labels up to the highest
  double majority = 0;       ///< top-1 of a network that always answers with val's most frequent class, 0 to 1
  imgpack::Loader train;     ///< augmented; batches of one size, since batch norm can't do with one image
  imgpack::Loader val;       ///< each image once: padding of the last batch is masked
};

/// Throws imgpack::Error: what Dataset::open and Loader throw, not_found (split), invalid_argument for too few images,
/// or images without label.
Data open_data(const Options& options);

}  // namespace trainer
