#include "measure/statistics.h"

#include <vector>

#include <doctest/doctest.h>

namespace imgpack::measure {

TEST_CASE("quartiles are NumPy's") {
  // numpy.percentile([...], [0, 25, 50, 75, 100])
  const Summary four = summarize(std::vector<double>{4, 1, 3, 2});
  CHECK(four == Summary{.count = 4, .least = 1, .lower = 1.75, .median = 2.5, .upper = 3.25, .most = 4});
  const Summary five = summarize(std::vector<double>{10, 50, 20, 40, 30});
  CHECK(five == Summary{.count = 5, .least = 10, .lower = 20, .median = 30, .upper = 40, .most = 50});
  CHECK(five.spread() == doctest::Approx(20.0 / 30));
}

TEST_CASE("few values") {
  CHECK(summarize({}) == Summary{});
  CHECK(summarize({}).spread() == 0);
  const Summary one = summarize(std::vector<double>{7});
  CHECK(one == Summary{.count = 1, .least = 7, .lower = 7, .median = 7, .upper = 7, .most = 7});
  CHECK(one.spread() == 0);
}

TEST_CASE("what overlaps does not differ, and neither do few values") {
  const Summary low = summarize(std::vector<double>{1, 2, 3, 4, 5});
  const Summary high = summarize(std::vector<double>{6, 7, 8, 9, 10});
  const Summary middle = summarize(std::vector<double>{3, 4, 5, 6, 7});
  CHECK(differ(low, high));
  CHECK(differ(high, low));
  CHECK_FALSE(differ(low, middle));
  CHECK_FALSE(differ(low, low));
  CHECK_FALSE(differ(summarize(std::vector<double>{1, 1}), summarize(std::vector<double>{9, 9})));
}

}  // namespace imgpack::measure
