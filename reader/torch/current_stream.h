// libtorch's current stream of a CUDA device, through headers that a libtorch without CUDA has too.
#pragma once

#include <c10/core/Device.h>

namespace imgpack::torch {

/// A cudaStream_t; nullptr is CUDA's default stream. Throws unsupported if this libtorch does not tell it.
void* current_stream(c10::Device device);

}  // namespace imgpack::torch
