// Little data from the host's memory, by a kernel that reads it there.
#include "reader/gpu/kernels/small_copies.h"

#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "tests/gpu/gpu_testing.h"

using namespace imgpack::gpu;
using namespace imgpack::testing;

TEST_CASE("small copies: any size, up to three at once, and nothing beside them") {
  constexpr std::size_t kRoom = 4 << 20;
  const std::vector<std::byte> content = random_bytes(kRoom, 7);
  const PinnedBuffer source(kRoom);
  std::memcpy(source.data(), content.data(), kRoom);
  const DeviceBuffer on_device = to_device(content);
  const Stream stream = Stream::create();
  const std::vector<std::vector<std::size_t>> launches = {
      {0}, {1}, {15, 16, 17}, {0, 4096, 33}, {3 << 20}, {100'003, 0, 5}, {}};
  for (const std::byte* const from : {source.data(), on_device.data()}) {
    for (const std::vector<std::size_t>& sizes : launches) {
      const DeviceBuffer destination(kRoom);
      fill_device(destination, 0xA5);
      std::vector<std::byte> expected(kRoom, std::byte{0xA5});
      std::vector<SmallCopy> copies;
      std::size_t place = 0;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::size_t first = i * 1024 + 16;
        copies.push_back({.source = from + first, .destination = destination.data() + place, .bytes = sizes[i]});
        std::memcpy(expected.data() + place, content.data() + first, sizes[i]);
        place += (sizes[i] + 31) / 16 * 16;
      }
      launch_small_copies(copies, stream.get());
      stream.synchronize();
      CHECK(from_device(destination) == expected);
    }
  }
}

TEST_CASE("small copies: what the host has written since the last launch is seen") {
  const PinnedBuffer source(4096);
  const DeviceBuffer destination(4096);
  const Stream stream = Stream::create();
  for (int round = 0; round < 50; ++round) {
    std::memset(source.data(), round, source.size());
    const SmallCopy copy{.source = source.data(), .destination = destination.data(), .bytes = source.size()};
    launch_small_copies({&copy, 1}, stream.get());
    stream.synchronize();
    CHECK(from_device(destination) == std::vector<std::byte>(4096, static_cast<std::byte>(round)));
  }
}
