// JPEG on the device, in the order of the functions: bytes are unstuffed, decoded into coefficients, those that need the
// plain decoder are decoded once more, and transformed into planes of samples.
//
// All launches are asynchronous and throw io. Arrays are in device memory; `work` has one entry a block.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "reader/gpu/program/jpeg_task.h"
#include "reader/gpu/program/work.h"

namespace imgpack::gpu {

/// A segment that is left to the plain decoder.
struct LeftSegment {
  std::uint32_t task = 0;
  std::uint32_t segment = 0;  ///< of the part
};

struct LeftSegments {
  std::uint32_t* count = nullptr;  ///< 0 at first
  LeftSegment* items = nullptr;    ///< room for all segments
};

/// By sample: the first damaged segment of those that were found, or kNotDamaged.
inline constexpr std::uint32_t kNotDamaged = ~std::uint32_t{0};

/// Fills JpegTask::infos and streams. Reads only what JpegTask says is there, whatever the index claims.
void launch_unstuff(const JpegTask* tasks, const Work* work, std::uint32_t blocks, cudaStream_t stream);

/// Fills coefficients, which must be zero. What does not decode perfectly goes to `left`.
void launch_entropy_decode(const JpegTask* tasks, const Work* work, std::uint32_t blocks, LeftSegments left,
                           cudaStream_t stream);

/// Decodes `left`, and notes what is damaged.
void launch_plain_decode(const JpegTask* tasks, LeftSegments left, std::uint32_t* damaged, cudaStream_t stream);

/// Coefficients to samples; leaves zeros behind.
void launch_inverse_transform(const JpegTask* tasks, const Work* work, std::uint32_t blocks, cudaStream_t stream);

}  // namespace imgpack::gpu
