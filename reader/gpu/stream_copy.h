// Copying into memory that this processor will not read: past its caches. No CUDA here.
#pragma once

#include <cstddef>
#include <span>

namespace imgpack::gpu {

/// Copies `source` to `out`, with streaming stores where the processor has them: memory need not be read before it is
/// written, and the caches keep what is in them. Before another thread or device is told of the copy, call
/// end_stream_copies() on the same thread. REQUIRES: no overlap.
void stream_copy(std::span<const std::byte> source, std::byte* out) noexcept;
void end_stream_copies() noexcept;

}  // namespace imgpack::gpu
