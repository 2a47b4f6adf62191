// What each 8-bit value of a channel becomes in a batch, as a table on the device.
#pragma once

#include <cstddef>

#include "imgpack/batch.h"
#include "reader/augment/convert_kernels.h"
#include "reader/gpu/cuda_handles.h"

namespace imgpack::gpu {

/// 3 x 256 values of the dtype, channel by channel, on the device that was current; nothing for uint8, whose values
/// stay as they are. Move-only.
class ValueLut {
 public:
  ValueLut() = default;  ///< for uint8
  /// Throws out_of_memory, io.
  static ValueLut upload(const ValueTables& tables, DType dtype);

  DType dtype() const noexcept { return dtype_; }
  const std::byte* data() const noexcept { return values_.data(); }

 private:
  DType dtype_ = DType::u8;
  DeviceBuffer values_;
};

}  // namespace imgpack::gpu
