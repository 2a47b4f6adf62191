// The device that a loader's options ask for.
#pragma once

#include <memory>

#include "reader/pipeline/batch_device.h"
#include "reader/pipeline/in_own_process.h"
#include "reader/pipeline/work_plan.h"

namespace imgpack {

/// Shared by a loader and its batches, which may outlive it. Keeps the datasets that records come from. Nothing is done
/// to the device in a child after fork().
using SharedDevice = std::shared_ptr<BatchDevice>;

/// `device`, which records of the plan's datasets come to, and these datasets, as loaders and batches share them.
SharedDevice share_device(const WorkPlan& plan, std::unique_ptr<BatchDevice> device);

/// nullptr for the CPU. Throws unsupported where the build has no CUDA, and what open_cuda_device() throws.
SharedDevice open_device(const WorkPlan& plan);

}  // namespace imgpack
