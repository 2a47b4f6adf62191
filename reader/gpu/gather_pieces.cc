#include "reader/gpu/gather_pieces.h"

#include <algorithm>

#include "reader/gpu/program/work.h"

namespace imgpack::gpu {

void append_pieces(std::span<const GatherRange> ranges, std::vector<GatherPiece>& pieces, std::uint32_t first,
                   std::size_t piece_bytes) {
  const std::uint64_t most = std::max<std::uint64_t>(piece_bytes, kGatherLine) / kGatherUnit;
  for (const GatherRange& range : ranges) {
    const std::uint32_t number = first++;
    if (range.bytes == 0) continue;
    const auto address = reinterpret_cast<std::uintptr_t>(range.source);
    const std::uint64_t units = ceil_div(address % kGatherUnit + range.bytes, kGatherUnit);
    const std::uint64_t before = address % kGatherLine / kGatherUnit;  // of the first line's units
    for (std::uint64_t at = 0; at < units;) {
      const std::uint64_t end = std::min(units, at == 0 ? most - before : at + most);
      pieces.push_back({.range = number,
                        .first_unit = static_cast<std::uint32_t>(at),
                        .units = static_cast<std::uint32_t>(end - at)});
      at = end;
    }
  }
}

}  // namespace imgpack::gpu
