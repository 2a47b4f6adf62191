// Copies of a batch's records by one call.
#include "reader/gpu/record_copies.h"

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

TEST_CASE("record copies: pieces of any size and alignment, batch after batch") {
  if (!has_batched_copies()) {
    MESSAGE("this driver does not take the copies of a batch by one call");
    return;
  }
  std::mt19937 random(5);
  const std::vector<std::byte> content = random_bytes(1 << 20, 3);
  const PinnedBuffer source(content.size());
  std::memcpy(source.data(), content.data(), content.size());
  const Stream stream = Stream::create();
  RecordCopies copies;
  for (const std::size_t count : {3, 200, 1, 40}) {
    copies.reset();
    std::vector<std::span<const std::byte>> pieces;
    std::vector<std::size_t> offsets;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t bytes = 1 + random() % 20'000;
      pieces.push_back({source.data() + random() % (content.size() - bytes), bytes});
      offsets.push_back(copies.add(pieces.back()));
    }
    const std::byte* const memory = copies.memory(stream.get());
    copies.queue(stream.get());
    stream.synchronize();
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* const place = memory + offsets[i];
      CHECK(reinterpret_cast<std::uintptr_t>(place) % 16 == reinterpret_cast<std::uintptr_t>(pieces[i].data()) % 16);
      std::vector<std::byte> made(pieces[i].size());
      check(cudaMemcpy(made.data(), place, made.size(), cudaMemcpyDeviceToHost), "copying back");
      CHECK(std::memcmp(made.data(), pieces[i].data(), made.size()) == 0);
    }
  }
}
