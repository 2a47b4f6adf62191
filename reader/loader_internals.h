// What tests of the loader need to reach inside it.
#pragma once

#include <functional>
#include <memory>

#include "imgpack/loader.h"
#include "reader/pipeline/batch_device.h"
#include "reader/pipeline/work_plan.h"

namespace imgpack {

struct LoaderInternals {
  using OpenDevice = std::function<std::unique_ptr<BatchDevice>(const WorkPlan&)>;
  /// A loader whose batches the given device makes, whatever it is, for options that name a CUDA device.
  static Loader with_device(const Dataset& dataset, LoaderOptions options, const OpenDevice& open);
};

}  // namespace imgpack
