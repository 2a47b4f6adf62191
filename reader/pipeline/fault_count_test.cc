#include "reader/pipeline/fault_count.h"

#include <doctest/doctest.h>

using namespace imgpack;

TEST_CASE("fault count: a few faults are no sign of a cold dataset, many are") {
  FaultCount count;
  CHECK_FALSE(count.is_cold());
  count.add(3, 32);
  CHECK_FALSE(count.is_cold());
  count.add(4, 32);
  CHECK_FALSE(count.is_cold());
  count.add(1, 32);
  CHECK(count.is_cold());
}

TEST_CASE("fault count: of many samples, many have to fault") {
  FaultCount count;
  count.add(0, 10'000);
  count.add(30, 100);
  CHECK_FALSE(count.is_cold());
  count.add(10, 100);
  CHECK(count.is_cold());  // 40 of 10,200: one in 255
}
