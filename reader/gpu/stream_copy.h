// Copying into memory that this processor will not read: a device does.
#pragma once

#include <cstddef>

namespace imgpack::gpu {

/// As memcpy, but past the caches: the destination is not read before it is written, and takes no room of others in
/// the cache. Written bytes may be handed to another thread or device afterwards.
void stream_copy(const std::byte* source, std::size_t bytes, std::byte* destination);

}  // namespace imgpack::gpu
