// Ranges of every alignment and size, from pinned memory, by the gathering kernel.
#include "reader/gpu/kernels/gather.h"

#include <algorithm>
#include <cstring>
#include <random>

#include <doctest/doctest.h>

#include "tests/gpu/gpu_testing.h"

using namespace imgpack;
using namespace imgpack::gpu;
using namespace imgpack::testing;

namespace {

constexpr std::size_t kGap = 32;

/// Gathers ranges [offset, offset + size) of random bytes, and checks every byte of the destination.
void check_gather(const std::vector<std::pair<std::size_t, std::size_t>>& parts, int blocks, std::size_t piece_bytes) {
  std::size_t source_bytes = 0;
  std::size_t room = 0;
  for (const auto& [offset, size] : parts) {
    source_bytes = std::max(source_bytes, offset + size);
    room += size + kGap * 2;
  }
  const std::vector<std::byte> content = random_bytes(source_bytes, 3);
  const PinnedBuffer source(source_bytes + 1);
  std::memcpy(source.data(), content.data(), content.size());
  const DeviceBuffer destination(room);
  fill_device(destination, 0xA5);

  std::vector<std::byte> expected(room, std::byte{0xA5});
  std::vector<GatherRange> ranges;
  std::size_t at = 0;
  for (const auto& [offset, size] : parts) {
    at = (at + kGap) / kGatherUnit * kGatherUnit + gather_shift(source.data() + offset);
    ranges.push_back({source.data() + offset, destination.data() + at, size});
    std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(offset), size,
                expected.begin() + static_cast<std::ptrdiff_t>(at));
    at += size;
  }
  std::vector<GatherPiece> pieces;
  append_pieces(ranges, pieces, 0, piece_bytes);
  const DeviceBuffer device_ranges = to_device(ranges);
  const DeviceBuffer device_pieces = to_device(pieces);
  launch_gather(reinterpret_cast<const GatherRange*>(device_ranges.data()),
                reinterpret_cast<const GatherPiece*>(device_pieces.data()), static_cast<std::uint32_t>(pieces.size()),
                nullptr, blocks);
  CHECK(from_device(destination) == expected);
}

}  // namespace

TEST_CASE("small ranges at every alignment") {
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  for (std::size_t shift = 0; shift < 16; ++shift) {
    for (std::size_t size = 1; size < 70; ++size) parts.emplace_back(256 + shift, size);
  }
  check_gather(parts, 0, kGatherPiece);
}

TEST_CASE("large ranges, in pieces, by few and by many blocks") {
  std::mt19937 random(5);
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  for (int i = 0; i < 40; ++i) parts.emplace_back(random() % 5'000'000, 1000 + random() % 1'000'000);
  for (const std::size_t piece : {std::size_t{128}, std::size_t{16} << 10, kGatherPiece, std::size_t{64} << 10}) {
    for (const int blocks : {0, 1, 7}) check_gather(parts, blocks, piece);
  }
}

TEST_CASE("records of 196608 bytes") {
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  for (std::size_t i = 0; i < 32; ++i) parts.emplace_back((31 - i) * 196'608, 196'608);
  check_gather(parts, 0, kGatherPiece);
}

TEST_CASE("nothing to gather") {
  launch_gather(nullptr, nullptr, 0, nullptr);
}
