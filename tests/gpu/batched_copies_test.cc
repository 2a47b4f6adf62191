// Copies of a batch's records by one call.
#include "reader/gpu/batched_copies.h"

#include <cstring>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "reader/gpu/cuda_check.h"
#include "tests/gpu/gpu_testing.h"

using namespace imgpack;
using namespace imgpack::gpu;
using namespace imgpack::testing;

TEST_CASE("batched copies: pieces of any size and alignment, batch after batch") {
  if (!has_batched_copies()) {
    MESSAGE("this driver does not take the copies of a batch by one call");
    return;
  }
  std::mt19937 random(5);
  const std::vector<std::byte> content = random_bytes(1 << 20, 3);
  const PinnedBuffer source(content.size());
  std::memcpy(source.data(), content.data(), content.size());
  const Stream stream = Stream::create();
  BatchedCopies copies;
  const DeviceBuffer memory(8 << 20);
  for (const std::size_t count : {0, 3, 200, 1, 40}) {
    copies.clear();
    std::vector<std::span<const std::byte>> pieces;
    std::vector<std::byte*> places;
    std::size_t used = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t bytes = 1 + random() % 20'000;
      pieces.push_back({source.data() + random() % (content.size() - bytes), bytes});
      places.push_back(memory.data() + used + random() % 64);
      used += bytes + 64;
      copies.add(pieces.back().data(), places.back(), bytes);
    }
    CHECK(copies.empty() == (count == 0));
    copies.queue(stream.get());
    stream.synchronize();
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::byte> made(pieces[i].size());
      check(cudaMemcpy(made.data(), places[i], made.size(), cudaMemcpyDeviceToHost), "copying back");
      CHECK(std::memcmp(made.data(), pieces[i].data(), made.size()) == 0);
    }
  }
}
