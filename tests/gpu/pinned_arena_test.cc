// Threads put bytes into pinned memory, and the device reads them there.
#include "reader/gpu/pinned_arena.h"

#include <cstring>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "reader/gpu/kernels/gather.h"
#include "tests/gpu/gpu_testing.h"

using namespace imgpack;
using namespace imgpack::gpu;
using namespace imgpack::testing;

TEST_CASE("a kernel reads what threads have put into an arena, batch after batch") {
  constexpr std::size_t kRecords = 64;
  constexpr std::size_t kBytes = 50'000;
  constexpr std::size_t kThreads = 4;
  PinnedArena arena(1 << 20);
  const DeviceBuffer out(kRecords * kBytes);
  std::uint64_t capacity = 0;
  for (std::uint32_t batch = 0; batch < 3; ++batch) {
    const std::vector<std::byte> content = random_bytes(kRecords * kBytes, batch);
    std::vector<GatherRange> ranges(kRecords);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = t; i < kRecords; i += kThreads) {
          std::byte* const place = arena.take(kBytes);
          std::memcpy(place, content.data() + i * kBytes, kBytes);
          ranges[i] = {place, out.data() + i * kBytes, kBytes};
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<GatherPiece> pieces;
    append_pieces(ranges, pieces);
    const DeviceBuffer device_ranges = to_device(ranges);
    const DeviceBuffer device_pieces = to_device(pieces);
    launch_gather(reinterpret_cast<const GatherRange*>(device_ranges.data()),
                  reinterpret_cast<const GatherPiece*>(device_pieces.data()), static_cast<std::uint32_t>(pieces.size()),
                  nullptr);
    CHECK(from_device(out) == content);
    arena.reset();
    if (batch == 0) capacity = arena.capacity();
    CHECK(arena.capacity() == capacity);
  }
}

TEST_CASE("a piece larger than a block") {
  PinnedArena arena(4096);
  CHECK(arena.take(1 << 20) != nullptr);
  CHECK(arena.capacity() > 1 << 20);
}
