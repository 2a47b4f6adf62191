// How fast host memory goes to a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace imgpack::measure {

/// Bytes a second, of copies of the given size; 0 with a reason where there is nothing to copy to.
struct CopyRates {
  double pageable = 0;  ///< from ordinary memory
  double pinned = 0;
  std::string reason;
};

/// Copies to the CUDA device again and again for about `seconds` each way. Never throws for a missing GPU or build.
CopyRates measure_copies(int device, std::size_t bytes, double seconds);

}  // namespace imgpack::measure
