// What finished values are, as kernels see it.
#pragma once

#include "imgpack/batch.h"
#include "reader/augment/pixel_format.h"
#include "reader/augment/value_tables.h"
#include "reader/gpu/cuda_handles.h"

namespace imgpack::gpu {

/// Plain numbers, to be handed to a kernel.
struct BatchValues {
  const ValueTables* tables;  ///< the device's; of no meaning for u8
  DType dtype;
  Layout layout;
};

/// The tables of a format in the memory of the current device.
class DeviceValueTables {
 public:
  /// Waits for the copy. Throws out_of_memory, io.
  explicit DeviceValueTables(const PixelFormat& format);

  /// Valid as long as this lives.
  BatchValues values() const noexcept;

 private:
  DeviceBuffer memory_;
  DType dtype_;
  Layout layout_;
};

}  // namespace imgpack::gpu
