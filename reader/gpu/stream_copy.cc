// This file is compiled once for each target that Highway knows on this architecture.
#include "reader/gpu/stream_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <hwy/cache_control.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reader/gpu/stream_copy.cc"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace imgpack::gpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Copies whole groups of vectors; returns how many bytes. REQUIRES: `destination` is aligned to 64 bytes.
std::size_t CopyGroups(const std::uint8_t* HWY_RESTRICT source, std::size_t bytes,
                       std::uint8_t* HWY_RESTRICT destination) {
#if HWY_TARGET == HWY_SCALAR
  (void)source, (void)bytes, (void)destination;
  return 0;
#else
  const hn::CappedTag<std::uint8_t, 64> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t group = 4 * lanes;
  std::size_t done = 0;
  for (; done + group <= bytes; done += group) {
    const auto v0 = hn::LoadU(d, source + done);
    const auto v1 = hn::LoadU(d, source + done + lanes);
    const auto v2 = hn::LoadU(d, source + done + 2 * lanes);
    const auto v3 = hn::LoadU(d, source + done + 3 * lanes);
    hn::Stream(v0, d, destination + done);
    hn::Stream(v1, d, destination + done + lanes);
    hn::Stream(v2, d, destination + done + 2 * lanes);
    hn::Stream(v3, d, destination + done + 3 * lanes);
  }
  return done;
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace imgpack::gpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpack::gpu {

HWY_EXPORT(CopyGroups);

void stream_copy(const std::byte* source, std::size_t bytes, std::byte* destination) {
  constexpr std::size_t kLine = 64;
  if (bytes == 0) return;
  const std::size_t head = std::min(bytes, (kLine - reinterpret_cast<std::uintptr_t>(destination) % kLine) % kLine);
  std::memcpy(destination, source, head);
  const std::size_t done =
      head + HWY_DYNAMIC_DISPATCH(CopyGroups)(reinterpret_cast<const std::uint8_t*>(source + head), bytes - head,
                                              reinterpret_cast<std::uint8_t*>(destination + head));
  std::memcpy(destination + done, source + done, bytes - done);
  hwy::FlushStream();
}

}  // namespace imgpack::gpu
#endif
