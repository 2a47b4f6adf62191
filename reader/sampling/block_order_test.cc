// Shuffle::block: what is read together, and that no record is favoured all the same.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "reader/sampling/sampler_fixture.h"
#include "tests/support/statistics.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace {

struct Shape {
  std::uint64_t size;
  std::uint64_t block;
  std::uint64_t window;
};

Sampler block_sampler(const Dataset& dataset, const Shape& shape, std::uint64_t seed = 1) {
  return sampler_of({dataset, "", numbers(0, shape.size)},
                    {.shuffle = Shuffle::block, .block_records = shape.block, .window_blocks = shape.window}, seed);
}

/// Records of each window: blocks dealt out evenly to as few windows as hold them, the last with what is left over.
std::vector<std::uint64_t> window_sizes(const Shape& shape) {
  const std::uint64_t blocks = shape.size / shape.block;
  const std::uint64_t windows = (blocks + shape.window - 1) / shape.window;
  std::vector<std::uint64_t> sizes(windows, blocks / windows * shape.block);
  for (std::uint64_t i = 0; i < blocks % windows; ++i) sizes[i] += shape.block;
  sizes.back() += shape.size % shape.block;
  return sizes;
}

/// Lengths of the runs of neighbours among `records`, where the last record of `size` is the first one's neighbour.
std::vector<std::uint64_t> run_lengths(const Records& records, std::uint64_t size) {
  std::vector<bool> here(size, false);
  for (const std::uint64_t record : records) here[record] = true;
  const auto gap = std::find(here.begin(), here.end(), false);
  if (gap == here.end()) return {size};
  std::rotate(here.begin(), gap, here.end());
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t i = 1; i < size; ++i) {
    if (!here[i]) continue;
    if (here[i - 1]) {
      ++lengths.back();
    } else {
      lengths.push_back(1);
    }
  }
  return lengths;
}

}  // namespace

TEST_CASE("blocks and windows of any size make epochs of each record once") {
  const SampledFile file(40);
  for (std::uint64_t size = 1; size <= 40; size += size < 12 ? 1 : 7) {
    for (std::uint64_t block = 1; block <= size + 2; ++block) {
      for (const std::uint64_t window : {1u, 2u, 3u, 7u, 64u}) {
        const Sampler sampler = block_sampler(file, {size, block, window});
        for (const std::uint64_t epoch : {0u, 1u}) CHECK(sorted(records_of(sampler, epoch)) == numbers(0, size));
      }
    }
  }
}

TEST_CASE("records of a block stay in one window, which holds no more blocks than it should") {
  const SampledFile file(300);
  for (const Shape& shape : {Shape{300, 10, 5}, {300, 7, 4}, {299, 10, 7}, {300, 1, 50}, {300, 60, 1}, {255, 4, 32}}) {
    CAPTURE(shape.size);
    CAPTURE(shape.block);
    const std::vector<std::uint64_t> sizes = window_sizes(shape);
    for (std::uint64_t epoch = 0; epoch < 10; ++epoch) {
      const Records order = records_of(block_sampler(file, shape), epoch);
      auto next = order.begin();
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        CHECK(sizes[i] < (shape.window + 1) * shape.block);
        const auto end = next + static_cast<std::ptrdiff_t>(sizes[i]);
        const std::vector<std::uint64_t> runs = run_lengths({next, end}, shape.size);
        const bool with_rest = i + 1 == sizes.size() && shape.size % shape.block != 0;
        CHECK(runs.size() <= sizes[i] / shape.block + (with_rest ? 1 : 0));
        std::uint64_t uneven = 0;  // what is left behind the last block, alone or beside blocks
        for (const std::uint64_t length : runs) uneven += length % shape.block != 0 ? 1 : 0;
        CHECK(uneven == (with_rest ? 1 : 0));
        next = end;
      }
    }
  }
}

TEST_CASE("a window names the records of its positions, in ranges as long as blocks") {
  const SampledFile file(60);
  for (const std::string split : {"", "train", "val"}) {
    for (const std::uint64_t block : {1u, 3u, 7u, 100u}) {
      CAPTURE(split);
      CAPTURE(block);
      const Sampler sampler = sampler_of({.dataset = file, .split = split},
                                         {.shuffle = Shuffle::block, .block_records = block, .window_blocks = 4});
      const Records order = records_of(sampler, 3);
      for (std::uint64_t begin = 0; begin < order.size();) {
        const SampleWindow window = *sampler.window(3, begin);
        Records named;
        for (const RecordRange& range : window.records) {
          for (std::uint64_t record = range.begin; record < range.end; ++record) named.push_back(record);
        }
        const auto at = [&](std::uint64_t position) { return order.begin() + static_cast<std::ptrdiff_t>(position); };
        CHECK(sorted(named) == sorted(Records(at(begin), at(window.end))));
        CHECK(sampler.window(3, window.end - 1)->end == window.end);
        CHECK(window.records.size() <= 4 + 2);  // what is left behind the last block, and one that the edge cuts
        begin = window.end;
      }
    }
  }
  CHECK_FALSE(sampler_of({.dataset = file}).window(0, 0));
  CHECK_FALSE(sampler_of({.dataset = file, .class_weights = {1, 1, 1}}, {.shuffle = Shuffle::block}).window(0, 0));
}

TEST_CASE("blocks come in another order each epoch, and begin elsewhere") {
  const SampledFile file(300);
  const Sampler sampler = block_sampler(file, {300, 30, 1});
  std::vector<std::uint64_t> begins(30);
  for (std::uint64_t epoch = 0; epoch < 3000; ++epoch) {
    Records first = records_of(sampler, epoch);
    first.resize(30);
    std::vector<bool> here(300, false);
    for (const std::uint64_t record : first) here[record] = true;
    for (std::uint64_t i = 0; i < 300; ++i) {
      if (here[i] && !here[(i + 299) % 300]) ++begins[i % 30];
    }
  }
  CHECK(std::abs(deviations_from_equal(begins)) < kFair);
}

TEST_CASE("each record is equally likely at each position") {
  const SampledFile file(40);
  for (const Shape& shape : {Shape{24, 4, 2}, {26, 4, 3}, {25, 3, 100}, {9, 10, 2}, {23, 1, 5}, {26, 5, 1}}) {
    CAPTURE(shape.size);
    CAPTURE(shape.block);
    std::vector<std::vector<std::uint64_t>> at_position(shape.size, std::vector<std::uint64_t>(shape.size));
    std::vector<std::vector<std::uint64_t>> of_record = at_position;
    const Sampler sampler = block_sampler(file, shape);
    for (std::uint64_t epoch = 0; epoch < 5000; ++epoch) {
      const Records order = records_of(sampler, epoch);
      for (std::uint64_t position = 0; position < shape.size; ++position) {
        ++at_position[position][order[position]];
        ++of_record[order[position]][position];
      }
    }
    for (std::uint64_t i = 0; i < shape.size; ++i) {
      CHECK(std::abs(deviations_from_equal(at_position[i])) < kFair);
      CHECK(std::abs(deviations_from_equal(of_record[i])) < kFair);
    }
  }
}

TEST_CASE("within a window nothing is left of the file's order") {
  const SampledFile file(300);
  const Sampler sampler = block_sampler(file, {300, 25, 6});
  std::uint64_t followers = 0;
  for (std::uint64_t epoch = 0; epoch < 100; ++epoch) {
    const Records order = records_of(sampler, epoch);
    for (std::size_t i = 1; i < order.size(); ++i) followers += order[i] == order[i - 1] + 1 ? 1 : 0;
  }
  // Each of about 150 records in a window has its successor there and next to it with a probability of 1 / 150.
  CHECK(followers > 100);
  CHECK(followers < 300);
}

TEST_CASE("a block is about 4 MiB where nobody says otherwise") {
  TempDir dir;
  write_dataset(dir / "data.rec", make_dataset({.records = 64, .payload_size = 200'000}), {});
  const Dataset dataset = Dataset::open(dir / "data.rec");
  const auto order = [&](std::uint64_t block, std::uint64_t window) {
    return records_of(
        sampler_of({dataset}, {.shuffle = Shuffle::block, .block_records = block, .window_blocks = window}), 0);
  };
  CHECK(order(0, 2) == order(20, 2));
  CHECK(order(0, 1) != order(19, 1));
  CHECK(order(0, 1) != order(21, 1));
}
