// How an epoch is cut into global batches, and these into ranks' parts.
#include <algorithm>

#include "imgpack/sampler.h"

namespace imgpack {

namespace {

/// Where rank's part of `count` samples begins: parts differ by one at most, and follow one another.
std::uint64_t share_begin(std::uint64_t count, std::uint64_t rank, std::uint64_t world_size) noexcept {
  return count / world_size * rank + count % world_size * rank / world_size;
}

}  // namespace

std::uint64_t batch_count(std::uint64_t samples, std::uint64_t first, const BatchShape& shape) noexcept {
  if (first >= samples) return 0;
  const std::uint64_t left = samples - first;
  const std::uint64_t whole = left / shape.global_batch_size;
  const bool rest = left % shape.global_batch_size != 0 && shape.last_batch != LastBatch::drop;
  return whole + (rest ? 1 : 0);
}

BatchPart batch_part(std::uint64_t samples, std::uint64_t first, const BatchShape& shape) noexcept {
  const std::uint64_t count = std::min<std::uint64_t>(shape.global_batch_size, samples - first);
  BatchPart part{.global_begin = first, .global_end = first + count, .begin = 0, .end = 0, .padding = 0};
  const auto bounds = [&](std::uint64_t of) {
    return std::pair(share_begin(of, shape.rank, shape.world_size), share_begin(of, shape.rank + 1, shape.world_size));
  };
  if (shape.last_batch == LastBatch::pad) {  // parts are those of a whole batch; the samples there are fill the first
    const auto [begin, end] = bounds(shape.global_batch_size);
    part.begin = first + std::min(begin, count);
    part.end = first + std::min(end, count);
    part.padding = (end - begin) - (part.end - part.begin);
    return part;
  }
  const auto [begin, end] = bounds(count);
  part.begin = first + begin;
  part.end = first + end;
  part.padding = begin == end ? 1 : 0;
  return part;
}

}  // namespace imgpack
