// Ranks' parts of global batches.
#include <algorithm>

#include <doctest/doctest.h>

#include "imgpack/sampler.h"

using namespace imgpack;

namespace {

constexpr LastBatch kLastBatches[] = {LastBatch::partial, LastBatch::drop, LastBatch::pad};

BatchShape shape_of(std::uint32_t batch, std::uint32_t rank, std::uint32_t world, LastBatch last) {
  return {.global_batch_size = batch, .rank = rank, .world_size = world, .last_batch = last};
}

/// Calls `check(samples, batch, world, last)` for small numbers of each.
template <typename Check>
void for_each_case(Check&& check) {
  for (const LastBatch last : kLastBatches) {
    CAPTURE(to_string(last));
    for (std::uint32_t world = 1; world <= 8; ++world) {
      for (std::uint32_t batch = world; batch <= world + 17; ++batch) {
        for (std::uint64_t samples = 0; samples <= 45; ++samples) check(samples, batch, world, last);
      }
    }
  }
}

/// What a rank's part should be, for all ranks of one batch.
void check_batch(std::uint64_t samples, std::uint64_t first, std::uint32_t batch, std::uint32_t world, LastBatch last) {
  const std::uint64_t global_end = std::min<std::uint64_t>(samples, first + batch);
  std::uint64_t next = first;
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t most = 0;
  std::uint64_t padding = 0;
  for (std::uint32_t rank = 0; rank < world; ++rank) {
    const BatchPart part = batch_part(samples, first, shape_of(batch, rank, world, last));
    CHECK(part.global_begin == first);
    CHECK(part.global_end == global_end);
    CHECK(part.begin == next);
    CHECK(part.end >= part.begin);
    next = part.end;
    CHECK(part.size() == part.end - part.begin + part.padding);
    least = std::min(least, part.size());
    most = std::max(most, part.size());
    padding += part.padding;
    if (last == LastBatch::partial) CHECK(part.padding == (part.begin == part.end ? 1 : 0));
    if (last == LastBatch::drop) CHECK(part.padding == 0);
  }
  CHECK(next == global_end);
  CHECK(least >= 1);
  CHECK(most - least <= 1);
  if (last == LastBatch::pad) CHECK(padding == batch - (global_end - first));
}

}  // namespace

TEST_CASE("the parts of all ranks, in their order, are the global batch") {
  for_each_case([](std::uint64_t samples, std::uint32_t batch, std::uint32_t world, LastBatch last) {
    const std::uint64_t end = last == LastBatch::drop ? samples / batch * batch : samples;
    for (std::uint64_t first = 0; first < end; first += batch) check_batch(samples, first, batch, world, last);
  });
}

TEST_CASE("all ranks have the same number of steps") {
  for_each_case([](std::uint64_t samples, std::uint32_t batch, std::uint32_t world, LastBatch last) {
    const std::uint64_t expected = last == LastBatch::drop ? samples / batch : (samples + batch - 1) / batch;
    for (std::uint32_t rank = 0; rank < world; ++rank) {
      CHECK(batch_count(samples, 0, shape_of(batch, rank, world, last)) == expected);
    }
  });
}

TEST_CASE("an epoch goes on from any position, on any number of ranks") {
  for_each_case([](std::uint64_t samples, std::uint32_t batch, std::uint32_t world, LastBatch last) {
    for (std::uint64_t first = 0; first <= samples + 1; first += 4) {
      std::uint64_t steps = 0;
      std::uint64_t position = first;
      const std::uint64_t count = batch_count(samples, first, shape_of(batch, 0, world, last));
      for (; steps < count; ++steps) {
        REQUIRE(position < samples);
        check_batch(samples, position, batch, world, last);
        CHECK(batch_count(samples, position, shape_of(batch, 0, world, last)) == count - steps);
        position = batch_part(samples, position, shape_of(batch, world - 1, world, last)).global_end;
      }
      if (last == LastBatch::drop) {
        CHECK((position >= samples || samples - position < batch));
      } else {
        CHECK(position == std::max(samples, first));
      }
    }
  });
}

TEST_CASE("with padding all batches have one size, and each rank the same in all of them") {
  for_each_case([](std::uint64_t samples, std::uint32_t batch, std::uint32_t world, LastBatch last) {
    if (last != LastBatch::pad) return;
    for (std::uint32_t rank = 0; rank < world; ++rank) {
      const BatchShape shape = shape_of(batch, rank, world, last);
      for (std::uint64_t first = 0; first < samples; first += batch) {
        CHECK(batch_part(samples, first, shape).size() == batch_part(1000, 0, shape).size());
      }
    }
  });
}

TEST_CASE("a rank without samples gets one padding sample") {
  const auto part = [](std::uint32_t rank) { return batch_part(10, 8, shape_of(8, rank, 4, LastBatch::partial)); };
  CHECK(part(0).size() + part(1).size() + part(2).size() + part(3).size() == 4);
  std::uint64_t padding = 0;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    CHECK(part(rank).size() == 1);
    padding += part(rank).padding;
  }
  CHECK(padding == 2);
}

TEST_CASE("parts of huge epochs and batches do not overflow") {
  const std::uint64_t samples = std::uint64_t{1} << 62;
  const std::uint32_t batch = 4'000'000'000;
  const std::uint32_t world = 1'000'003;
  for (const LastBatch last : kLastBatches) {
    std::uint64_t next = samples - batch;
    for (std::uint32_t rank = 0; rank < world; ++rank) {
      const BatchPart part = batch_part(samples, samples - batch, shape_of(batch, rank, world, last));
      if (part.begin != next || part.size() < batch / world || part.size() > batch / world + 1) {
        FAIL_CHECK("rank " << rank << " has " << part.begin << " to " << part.end);
      }
      next = part.end;
    }
    CHECK(next == samples);
    CHECK(batch_count(samples, 1, shape_of(batch, 0, world, last)) ==
          (samples - 1) / batch + (last == LastBatch::drop ? 0 : 1));
  }
}
