// A stream with memory of its own, in which a part of a batch is made. Several lanes work at the same time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reader/gpu/cuda_handles.h"

namespace imgpack::gpu {

/// Not thread-safe.
class Lane {
 public:
  /// On the current device. Throws io.
  static Lane create();

  cudaStream_t stream() const noexcept { return stream_.get(); }
  std::byte* general() const noexcept { return general_.data(); }
  std::byte* coefficients() const noexcept { return coefficients_.data(); }
  /// Makes room; may wait for the device. Throws out_of_memory, io.
  void reserve(std::size_t general_bytes, std::size_t coefficient_bytes);
  /// Waits for the lane's work, which has been given up half-way, and makes its memory fit for other work. Throws io.
  void recover();

 private:
  Stream stream_;
  DeviceBuffer general_;
  DeviceBuffer coefficients_;  ///< zeros: whoever reads coefficients leaves zeros behind
};

}  // namespace imgpack::gpu
