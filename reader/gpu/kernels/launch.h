// How large grids are that loop over their work.
#pragma once

#include <cstdint>

namespace imgpack::gpu {

/// `wanted` blocks, or two for each multiprocessor of the current device if that is 0; not more than there are items.
/// Throws io.
unsigned persistent_blocks(int wanted, std::uint64_t items);

}  // namespace imgpack::gpu
