// All that doctor measures, in order: each stage alone, threads, all together, other variants; and what follows from
// it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/advice.h"
#include "measure/measurement.h"
#include "measure/storage_kind.h"

namespace imgpack::measure {

struct ExaminationOptions {
  std::string dataset;  ///< packed
  std::string split;
  /// run.threads 0: the CPUs that this process may use; run.device: where batches are made now; run.step_seconds: what
  /// the consumer takes for a batch, 0: there is none.
  MeasureOptions run;
  unsigned rounds = 3;
  bool cold = false;                 ///< the disk counts even if the dataset has room in memory
  std::uint64_t image_bytes = 0;     ///< of an image in a batch; 0: as it is stored, its pixels of the dtype
  double copy_bytes_per_second = 0;  ///< of host memory to the GPU, assumed instead of measured; 0: measured
  bool variants = true;
  std::filesystem::path folder;  ///< where variants are packed
  std::uint64_t seed = 0;
  std::function<void(std::string_view doing)> progress = {};
};

struct Examination {
  std::string dataset;
  std::uint64_t images = 0;
  std::uint64_t payload_bytes = 0;
  Storage storage;
  std::uint64_t memory_available = 0;  ///< bytes, before
  unsigned threads = 0;
  std::vector<StageFigure> stages;  ///< alone; those that were not measured too
  std::vector<StageFigure> sweep;   ///< of the CPU's stage
  unsigned threads_enough = 0;
  Summary together;          ///< images a second that the consumer gets
  bool disk_counts = false;  ///< records are read from disk in each epoch
  double consumer_busy = 0;  ///< share of the time in which the consumer worked; 0 without one
  std::vector<VariantFigure> variants;
  std::string variants_reason;  ///< why there are none
  Situation situation;
  Advice advice;
};

/// Throws what opening the dataset throws, damaged for records that can't be read, io, and what a loader throws for
/// options that are refused. If options.run.stop becomes true, the rest is missing.
Examination examine(const ExaminationOptions& options);

}  // namespace imgpack::measure
