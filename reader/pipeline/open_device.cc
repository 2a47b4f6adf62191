#include "reader/pipeline/open_device.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "imgpack/error.h"
#if IMGPACK_HAVE_CUDA
#include "reader/gpu/cuda_device.h"
#endif

namespace imgpack {

namespace {

/// The device, and behind it what it may use as long as it lives.
struct Kept {
  std::vector<Dataset> datasets;
  std::unique_ptr<BatchDevice> device;
};

#if IMGPACK_HAVE_CUDA
DeviceTransport device_transport(Transport transport) {
  switch (transport) {
    case Transport::zero_copy:
      return DeviceTransport::zero_copy;
    case Transport::pinned:
      return DeviceTransport::pinned;
    case Transport::gds:
      return DeviceTransport::gds;
    default:
      return DeviceTransport::automatic;
  }
}

std::unique_ptr<BatchDevice> open_cuda(const WorkPlan& plan) {
  CudaDeviceOptions options{.device = plan.device.index,
                            .decode_device = plan.decode_device.index,
                            .transport = device_transport(plan.options.transport),
                            .scratch_bytes = plan.options.device_memory,
                            .registered_bytes = plan.options.registered_memory,
                            .batch_size = plan.options.batch_size,
                            .format = plan.augmenter.format(),
                            .batch = plan.format,
                            .stores = {}};
  for (const DatasetShare& share : plan.sampler.shares()) options.stores.push_back(&share.dataset.store());
  return open_cuda_device(options);
}
#else
std::unique_ptr<BatchDevice> open_cuda(const WorkPlan& plan) {
  throw Error(ErrorCode::unsupported,
              fmt::format("this build of imgpack has no CUDA, and so no device {}, only cpu", to_string(plan.device)));
}
#endif

}  // namespace

SharedDevice share_device(const WorkPlan& plan, std::unique_ptr<BatchDevice> device) {
  auto kept = std::make_unique<Kept>();
  for (const DatasetShare& share : plan.sampler.shares()) kept->datasets.push_back(share.dataset);
  kept->device = std::move(device);
  BatchDevice* const shared = kept->device.get();
  return {std::shared_ptr<Kept>(kept.release(), InOwnProcess()), shared};
}

SharedDevice open_device(const WorkPlan& plan) {
  if (!plan.device.is_cuda()) return nullptr;
  return share_device(plan, open_cuda(plan));
}

}  // namespace imgpack
