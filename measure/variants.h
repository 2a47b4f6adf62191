// What other ways of packing would give, found by packing a part of a dataset in each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "measure/measurement.h"
#include "measure/statistics.h"

namespace imgpack::measure {

struct VariantFigure {
  std::string name;            ///< "as it is", "jpeg 256", ...
  std::string options;         ///< of `imgpack convert`; empty for as it is
  Summary rates = {};          ///< batches by CPU threads, images a second
  double bytes_per_image = 0;  ///< on disk
  std::string reason = {};     ///< why it was not measured
};

struct VariantOptions {
  MeasureOptions run;  ///< of the loader
  unsigned rounds = 3;
  std::uint64_t images = 256;    ///< that are packed of each
  std::filesystem::path folder;  ///< for what is packed; removed again
  std::uint64_t seed = 0;
};

/// The first is the dataset as it is; its part is the same images. Runs take turns. A variant that can't be made has a
/// reason. Throws damaged, io, and what opening the dataset throws.
std::vector<VariantFigure> try_variants(const std::string& dataset, const VariantOptions& options);

}  // namespace imgpack::measure
