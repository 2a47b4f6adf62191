#include "reader/gpu/stream_copy.h"

#include <random>
#include <vector>

#include <doctest/doctest.h>

using namespace imgpack::gpu;

TEST_CASE("stream copy: every alignment and length, and nothing beside") {
  std::mt19937 random(1);
  std::vector<std::byte> source(5000);
  for (std::byte& byte : source) byte = static_cast<std::byte>(1 + random() % 255);
  for (std::size_t i = 0; i < 2000; ++i) {
    const std::size_t from = random() % 100;
    const std::size_t to = random() % 100;
    const std::size_t bytes = i < 300 ? i : random() % 4800;
    std::vector<std::byte> out(5000);
    std::vector<std::byte> expected(5000);
    stream_copy(source.data() + from, bytes, out.data() + to);
    for (std::size_t k = 0; k < bytes; ++k) expected[to + k] = source[from + k];
    REQUIRE_MESSAGE(out == expected, bytes, " bytes from ", from, " to ", to);
  }
}
