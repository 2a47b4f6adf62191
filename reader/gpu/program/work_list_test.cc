#include <doctest/doctest.h>

#include <cstdint>

#include "reader/gpu/program/work_list.h"

using namespace imgpack::gpu;

TEST_CASE("a work list has each part of each task, in order, however long it grows and after it was cleared") {
  WorkList list;
  CHECK(list.empty());
  for (int round = 0; round < 2; ++round) {
    CAPTURE(round);
    for (std::uint32_t task = 0; task < 500; ++task) list.add(task, task % 7);
    std::size_t at = 0;
    for (std::uint32_t task = 0; task < 500; ++task) {
      for (std::uint32_t part = 0; part < task % 7; ++part, ++at) {
        REQUIRE(at < list.size());
        CHECK(list.entries()[at].task == task);
        CHECK(list.entries()[at].part == part);
      }
    }
    CHECK(at == list.size());
    list.clear();
    CHECK(list.empty());
  }
  list.add(3, 100'000);
  CHECK(list.size() == 100'000);
  CHECK(list.entries().back().part == 99'999);
}
