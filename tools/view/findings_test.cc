#include "tools/view/findings.h"

#include <doctest/doctest.h>

#include "tools/view/histogram.h"

namespace imgpack::tools {

TEST_CASE("the findings of the first records are kept, in whatever order they come") {
  Findings a(2);
  a.add(Suspicion::tiny, {7, "seven"});
  a.add(Suspicion::tiny, {3, "three"});
  Findings b(2);
  b.add(Suspicion::tiny, {5, "five"});
  b.add(Suspicion::gray, {1, "one"});
  a.merge(std::move(b));
  CHECK(a.count(Suspicion::tiny) == 3);
  REQUIRE(a.kept(Suspicion::tiny).size() == 2);
  CHECK(a.kept(Suspicion::tiny)[0].reason == "three");
  CHECK(a.kept(Suspicion::tiny)[1].reason == "five");
  CHECK(a.count(Suspicion::gray) == 1);
  CHECK(a.count(Suspicion::damaged) == 0);
  a.clear(Suspicion::tiny);
  CHECK(a.count(Suspicion::tiny) == 0);
  CHECK(a.kept(Suspicion::tiny).empty());
}

TEST_CASE("histograms count from a limit up to the next") {
  const double limits[] = {1, 10, 100};
  Histogram histogram(limits);
  for (const double value : {0.0, 1.0, 9.9, 10.0, 1e9}) histogram.add(value);
  Histogram more(limits);
  more.add(50);
  histogram.merge(more);
  CHECK(histogram.counts()[0] == 3);
  CHECK(histogram.counts()[1] == 2);
  CHECK(histogram.counts()[2] == 1);
}

}  // namespace imgpack::tools
