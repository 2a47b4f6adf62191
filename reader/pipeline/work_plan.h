// What a loader's threads have to know to make batches: the same for all of them and for all epochs.
#pragma once

#include <cstdint>
#include <optional>

#include "imgpack/loader.h"
#include "imgpack/sampler.h"
#include "reader/augment/augmenter.h"
#include "reader/augment/batch_mixer.h"
#include "reader/pipeline/batch_memory.h"

namespace imgpack {

/// Immutable.
struct WorkPlan {
  /// Checks the options and chooses what they leave open. Whether the machine has the
  /// device is not looked at. Throws invalid_argument, and what reading the first record's sizes throws.
  WorkPlan(Sampler sampler, LoaderOptions options);

  LoaderOptions options;
  Device device;         ///< where batches are
  Device decode_device;  ///< the same, or the CUDA device that makes them
  Sampler sampler;       ///< its seed is the options'; an epoch may have another one
  BatchShape shape;
  Augmenter augmenter;
  BatchFormat format;
  std::optional<BatchMixer> mixer;
  std::uint32_t chunk_samples = 1;  ///< that a thread takes at a time
  unsigned start_threads = 1;
  unsigned most_threads = 1;   ///< more than start_threads only where the number is to be found
  double tuning_window = 0.5;  ///< seconds that a number of threads is tried for

 private:
  void choose_work();
};

}  // namespace imgpack
