// Batches on a CUDA device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "imgpack/store.h"
#include "reader/augment/pixel_format.h"
#include "reader/pipeline/batch_device.h"
#include "reader/pipeline/batch_format.h"

namespace imgpack {

/// How records come to the device; as the public Transport, which the reader translates.
enum class DeviceTransport : std::uint8_t { automatic, zero_copy, pinned, gds };

struct CudaDeviceOptions {
  int device = 0;         ///< where batches live
  int decode_device = 0;  ///< where they are made; if another one, they are copied over
  DeviceTransport transport = DeviceTransport::automatic;
  /// Of device memory for the lanes, all batches in flight together, about: a lane has 16 MiB at least, and some room
  /// to spare. 0: 1 MiB a sample of a batch, from 512 MiB to 1 GiB.
  std::uint64_t scratch_bytes = 0;
  std::uint64_t registered_bytes = 0;      ///< most of the datasets' files that may be pinned; 0: half of free memory
  std::uint32_t lanes = 0;                 ///< parts of batches that are made at the same time; 0: chosen
  int gather_blocks = 0;                   ///< of threads that bring bytes to the device; 0: chosen
  std::uint32_t batch_size = 0;            ///< samples, about
  PixelFormat format;                      ///< of pixels
  BatchFormat batch;                       ///< of batches
  std::vector<const StoreReader*> stores;  ///< that records come from; they outlive the device
};

/// Throws unsupported (no such device, no driver, transport not possible), out_of_memory, io.
std::unique_ptr<BatchDevice> open_cuda_device(const CudaDeviceOptions& options);

}  // namespace imgpack
