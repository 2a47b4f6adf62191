// What of the GPU transports is decided without a GPU: what to register, how to divide work, where pieces of arenas
// lie.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "imgpack/error.h"
#include "reader/gpu/bump_arena.h"
#include "reader/gpu/gather_pieces.h"
#include "reader/gpu/raw_task.h"
#include "reader/gpu/registered_windows.h"
#include "reader/gpu/registration_plan.h"
#include "tests/support/thrown.h"

using namespace imgpack;
using namespace imgpack::gpu;
using namespace imgpack::testing;

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kPlenty = std::uint64_t{1} << 40;

/// Never read: only addresses matter.
const std::byte* address(std::uintptr_t number) {
  return reinterpret_cast<const std::byte*>(number);
}
HostRange range_at(std::uintptr_t begin, std::size_t bytes) {
  return {address(begin), bytes};
}

std::uint64_t total(const std::vector<HostRange>& windows) {
  std::uint64_t bytes = 0;
  for (const HostRange window : windows) bytes += window.size();
  return bytes;
}

/// Memory with a byte counter before it, so that places of every alignment exist.
std::shared_ptr<std::byte> block_of(std::size_t bytes) {
  auto* const memory = static_cast<std::byte*>(::operator new (bytes, std::align_val_t{BumpArena::kAlignment}));
  return {memory, [](std::byte* data) { ::operator delete (data, std::align_val_t{BumpArena::kAlignment}); }};
}

}  // namespace

TEST_CASE("everything is registered, in windows of whole pages, where memory allows it") {
  const std::vector<HostRange> files = {range_at(kPage * 10, kPage * 5 + 1), range_at(kPage * 100, 3)};
  const RegistrationPlan plan =
      plan_registration(files, {.available_bytes = kPlenty, .window_bytes = kPage * 4, .page_bytes = kPage});
  REQUIRE(plan.windows.size() == 3);
  CHECK(plan.windows[0].data() == address(kPage * 10));
  CHECK(plan.windows[0].size() == kPage * 4);
  CHECK(plan.windows[1].data() == address(kPage * 14));
  CHECK(plan.windows[1].size() == kPage * 2);
  CHECK(plan.windows[2].data() == address(kPage * 100));
  CHECK(plan.windows[2].size() == kPage);
  CHECK(plan.total_bytes == kPage * 7);
  CHECK(plan.reason.empty());
}

TEST_CASE("a limit cuts at a page, and the reason says what the limit was") {
  const std::vector<HostRange> files = {range_at(kPage, kPage * 10), range_at(kPage * 100, kPage * 10)};
  RegistrationWish wish{.available_bytes = kPlenty, .window_bytes = kPage * 4, .page_bytes = kPage};

  wish.limit_bytes = kPage * 13 + 100;
  RegistrationPlan plan = plan_registration(files, wish);
  CHECK(total(plan.windows) == kPage * 13);
  CHECK(plan.windows.back().data() == address(kPage * 100));
  CHECK(plan.reason.find("registered_memory") != std::string::npos);

  wish.limit_bytes = kPage - 1;
  CHECK(plan_registration(files, wish).windows.empty());

  wish.limit_bytes = 0;  // half of what is free
  wish.available_bytes = kPage * 12;
  plan = plan_registration(files, wish);
  CHECK(total(plan.windows) == kPage * 6);
  CHECK(plan.reason.find("free") != std::string::npos);

  wish.limit_bytes = kPage * 100;  // more than there is
  wish.available_bytes = kPage * 10;
  plan = plan_registration(files, wish);
  CHECK(total(plan.windows) == kPage * 9);
  CHECK(plan.reason.find("free") != std::string::npos);
}

TEST_CASE("other transports register nothing") {
  const std::vector<HostRange> files = {range_at(kPage, kPage * 10)};
  for (const DeviceTransport transport : {DeviceTransport::pinned, DeviceTransport::gds}) {
    const RegistrationPlan plan =
        plan_registration(files, {.transport = transport, .available_bytes = kPlenty, .page_bytes = kPage});
    CHECK(plan.windows.empty());
    CHECK(plan.total_bytes == kPage * 10);
  }
}

TEST_CASE("what is said about a registration") {
  const auto automatic = DeviceTransport::automatic;
  CHECK(describe_registration(automatic, 3'900'000'000, 3'900'000'000, "") ==
        "zero_copy: all 3.9 GB of the dataset are registered");
  CHECK(describe_registration(automatic, 1'000'000'000, 3'900'000'000, "so it is") ==
        "zero_copy for 1.0 GB of 3.9 GB of the dataset, pinned for the rest: so it is");
  CHECK(describe_registration(automatic, 0, 3'900'000'000, "so it is") == "pinned: so it is");
  CHECK(describe_registration(DeviceTransport::pinned, 0, 4096, "asked for") == "pinned: asked for");
  CHECK(describe_registration(DeviceTransport::zero_copy, 8192, 8192, "").starts_with("zero_copy"));
  CHECK(describe_registration(DeviceTransport::zero_copy, 0, 0, "").starts_with("pinned"));  // nothing to read
  CHECK(code_of([&] { describe_registration(DeviceTransport::zero_copy, 4096, 8192, "so it is"); }) ==
        ErrorCode::unsupported);
}

TEST_CASE("device addresses of ranges in windows") {
  const RegisteredWindows windows({{address(0x30000), address(0x930000), 0x1000},
                                   {address(0x10000), address(0x10000), 0x1000},
                                   {address(0x11000), address(0x11000), 0x1000},
                                   {address(0x31000), address(0x950000), 0x1000}});
  CHECK(windows.bytes() == 0x4000);
  CHECK(windows.device_view(range_at(0x10000, 0x2000)) == address(0x10000));  // both windows, equal addresses
  CHECK(windows.device_view(range_at(0x10FF0, 0x20)) == address(0x10FF0));
  CHECK(windows.device_view(range_at(0x10FF0, 0x1011)) == nullptr);
  CHECK(windows.device_view(range_at(0x0FFFF, 0x10)) == nullptr);
  CHECK(windows.device_view(range_at(0x30010, 0xFF0)) == address(0x930010));
  CHECK(windows.device_view(range_at(0x30010, 0xFF1)) == nullptr);  // neighbours for the host alone
  CHECK(windows.device_view(range_at(0x31FFF, 1)) == address(0x950FFF));
  CHECK(windows.device_view(range_at(0x32000, 1)) == nullptr);
  CHECK(windows.device_view(range_at(0x20000, 1)) == nullptr);
  CHECK(windows.device_view({address(0x10000), std::numeric_limits<std::size_t>::max()}) == nullptr);
  CHECK(RegisteredWindows().device_view(range_at(0x10000, 1)) == nullptr);

  CHECK(windows.crosses_windows(range_at(0x10FFF, 2)));
  CHECK_FALSE(windows.crosses_windows(range_at(0x10FFF, 1)));
  CHECK_FALSE(windows.crosses_windows(range_at(0x11000, 0x1000)));
  CHECK_FALSE(windows.crosses_windows(range_at(0x40000, 0x1000)));  // pinned memory elsewhere
  CHECK_FALSE(RegisteredWindows().crosses_windows(range_at(0x10000, 1)));
}

TEST_CASE("pieces cover each range once, and begin at lines") {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<GatherRange> ranges;
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t bytes = round % 3 == 0 ? random() % 40 : random() % 300'000;
      ranges.push_back({.source = address(0x100000 + random() % 200), .destination = nullptr, .bytes = bytes});
    }
    std::vector<GatherPiece> pieces;
    append_pieces(ranges, pieces, 7, 16 << 10);
    std::vector<std::uint64_t> done(ranges.size(), 0);  // units
    for (const GatherPiece& piece : pieces) {
      REQUIRE(piece.range >= 7);
      REQUIRE(piece.range < 10);
      const std::size_t number = piece.range - 7;
      REQUIRE(piece.first_unit == done[number]);
      REQUIRE(piece.units != 0);
      REQUIRE(piece.units <= (16u << 10) / kGatherUnit);
      const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(ranges[number].source) / kGatherUnit * kGatherUnit;
      if (piece.first_unit != 0) REQUIRE((first + piece.first_unit * kGatherUnit) % kGatherLine == 0);
      done[number] += piece.units;
    }
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const std::uint64_t shift = gather_shift(ranges[i].source);
      const std::uint64_t expected = ranges[i].bytes == 0 ? 0 : (shift + ranges[i].bytes - 1) / kGatherUnit + 1;
      REQUIRE(done[i] == expected);
    }
  }
}

TEST_CASE("tiles cover images and fit into the buffer") {
  for (const std::uint32_t width : {1u, 2u, 223u, 224u, 256u, 1023u, 1024u, 1025u, 4000u, 65'535u}) {
    for (const std::uint32_t height : {1u, 7u, 224u, 256u, 600u, 65'535u}) {
      CAPTURE(width);
      CAPTURE(height);
      const RawTiling tiling = raw_tiling({width, height});
      CHECK(tiling.columns * tiling.width >= width);
      CHECK((tiling.columns - 1) * tiling.width < width);
      CHECK(tiling.rows * tiling.height >= height);
      CHECK((tiling.rows - 1) * tiling.height < height);
      CHECK(tiling.pitch % 16 == 0);
      CHECK(tiling.pitch >= tiling.width * 3 + 15);
      CHECK(tiling.pitch * tiling.height <= RawTiling::kBufferBytes);
    }
  }
}

TEST_CASE("pieces of an arena are aligned, do not overlap and are given out again") {
  int blocks = 0;
  BumpArena arena(4096, [&](std::size_t bytes) {
    ++blocks;
    return block_of(bytes);
  });
  std::mt19937 random(1);
  int blocks_of_first_batch = 0;
  for (int batch = 0; batch < 5; ++batch) {
    std::mt19937 same(7);  // the same sizes in each batch
    std::vector<std::pair<std::uintptr_t, std::size_t>> pieces;
    for (int i = 0; i < 60; ++i) {
      const std::size_t bytes = i == 20 ? 50'000 : same() % 700;
      const std::size_t alignment = std::size_t{1} << (same() % 9);
      std::byte* const piece = arena.take(bytes, alignment);
      REQUIRE(reinterpret_cast<std::uintptr_t>(piece) % alignment == 0);
      std::memset(piece, i, bytes);  // a sanitizer notices what is not ours
      pieces.emplace_back(reinterpret_cast<std::uintptr_t>(piece), bytes);
    }
    std::sort(pieces.begin(), pieces.end());
    for (std::size_t i = 1; i < pieces.size(); ++i)
      CHECK(pieces[i - 1].first + pieces[i - 1].second <= pieces[i].first);
    if (batch == 0) blocks_of_first_batch = blocks;
    CHECK(blocks == blocks_of_first_batch);
    arena.reset();
  }
  CHECK(arena.capacity() >= 60'000);
}

TEST_CASE("threads take pieces of an arena at once") {
  BumpArena arena(1 << 14, block_of);
  constexpr int kThreads = 4;
  for (int batch = 0; batch < 3; ++batch) {
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    std::vector<std::vector<std::pair<std::byte*, std::size_t>>> taken(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 500; ++i) {
          const std::size_t bytes = 1 + static_cast<std::size_t>(i * 37 % 3000);
          std::byte* const piece = arena.take(bytes);
          std::memset(piece, t + 1, bytes);
          taken[static_cast<std::size_t>(t)].emplace_back(piece, bytes);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t t = 0; t < kThreads; ++t) {
      for (const auto& [piece, bytes] : taken[t]) {
        const auto mine = static_cast<std::byte>(t + 1);
        if (!std::all_of(piece, piece + bytes, [mine](std::byte b) { return b == mine; })) ++wrong;
      }
    }
    CHECK(wrong == 0);
    arena.reset();
  }
}

TEST_CASE("an arena whose memory runs out says so and goes on") {
  bool full = false;
  BumpArena arena(1024, [&](std::size_t bytes) {
    if (full) throw Error(ErrorCode::out_of_memory, "full");
    return block_of(bytes);
  });
  arena.take(600);
  full = true;
  CHECK(code_of([&] { arena.take(600); }) == ErrorCode::out_of_memory);
  full = false;
  CHECK(arena.take(600) != nullptr);
}
