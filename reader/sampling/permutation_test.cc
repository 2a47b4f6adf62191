#include "reader/sampling/permutation.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "reader/random/random_stream.h"
#include "tests/support/statistics.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace {

/// Keys as a sampler makes them, of consecutive epochs.
std::uint64_t epoch_key(std::uint64_t epoch) {
  return random_key(1, epoch, RandomPurpose::order);
}

std::vector<std::uint64_t> values_of(std::uint64_t size, std::uint64_t key) {
  const Permutation permutation(size, key);
  std::vector<std::uint64_t> values(size);
  for (std::uint64_t i = 0; i < size; ++i) values[i] = permutation(i);
  return values;
}

bool is_bijection(std::uint64_t size, std::uint64_t key) {
  std::vector<bool> seen(size, false);
  const Permutation permutation(size, key);
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::uint64_t value = permutation(i);
    if (value >= size || seen[value]) return false;
    seen[value] = true;
  }
  return true;
}

/// Number of a permutation among all of its size: its digits in the factorial number system.
std::size_t rank_of(const std::vector<std::uint64_t>& values) {
  std::size_t rank = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::size_t smaller = 0;
    for (std::size_t j = i + 1; j < values.size(); ++j) smaller += values[j] < values[i] ? 1 : 0;
    rank = rank * (values.size() - i) + smaller;
  }
  return rank;
}

bool is_even(const std::vector<std::uint64_t>& values) {
  std::vector<bool> seen(values.size(), false);
  std::size_t cycles = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (seen[i]) continue;
    ++cycles;
    for (std::uint64_t j = i; !seen[j]; j = values[j]) seen[j] = true;
  }
  return (values.size() - cycles) % 2 == 0;
}

/// Joint counts of two values below `size`, in `cells` x `cells` cells of (nearly) equal probability.
class Joint {
 public:
  Joint(std::uint64_t size, std::uint64_t cells) : size_(size), cells_(cells), counts_(cells * cells) {}
  void add(std::uint64_t a, std::uint64_t b) { ++counts_[a * cells_ / size_ * cells_ + b * cells_ / size_]; }
  double deviations() const { return deviations_from_equal(counts_); }

 private:
  std::uint64_t size_;
  std::uint64_t cells_;
  std::vector<std::uint64_t> counts_;
};

}  // namespace

TEST_CASE("every size up to 300 is permuted, whatever the key") {
  for (std::uint64_t size = 1; size <= 300; ++size) {
    CAPTURE(size);
    for (std::uint64_t key : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, epoch_key(3), epoch_key(4)}) {
      CHECK(is_bijection(size, key));
    }
  }
}

TEST_CASE("large sizes are permuted") {
  for (const std::uint64_t size : {4095u, 4096u, 4097u, 65'535u, 65'536u, 65'537u, 100'000u}) {
    CAPTURE(size);
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) CHECK(is_bijection(size, epoch_key(epoch)));
  }
  CHECK(is_bijection(1'281'167, epoch_key(0)));
  const std::uint64_t huge = (std::uint64_t{1} << 62) + 12345;
  const Permutation permutation(huge, 1);
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 1000; ++i) CHECK(permutation(i * (huge / 1000)) < huge);
  for (std::uint64_t i = 0; i < 1000; ++i) CHECK(seen.insert(permutation(huge - 1 - i)).second);
}

TEST_CASE("the order never changes: runs go on from what earlier versions saved") {
  using Values = std::vector<std::uint64_t>;
  CHECK(values_of(1, 7) == Values{0});
  CHECK(values_of(2, 7) == Values{0, 1});
  CHECK(values_of(10, 0) == Values{5, 0, 7, 9, 1, 3, 2, 6, 8, 4});
  CHECK(values_of(13, 0x0123456789ABCDEF) == Values{1, 9, 8, 2, 6, 0, 10, 11, 7, 4, 12, 5, 3});
  const auto first = [](std::uint64_t size, std::uint64_t key) {
    const Permutation permutation(size, key);
    return Values{permutation(0), permutation(1), permutation(2), permutation(size / 2), permutation(size - 1)};
  };
  CHECK(first(4095, 5) == Values{2811, 3852, 2338, 1145, 3004});
  CHECK(first(4096, 5) == Values{1694, 3396, 3167, 3155, 1931});
  CHECK(first(1'281'167, 5) == Values{630'866, 52'143, 353'056, 802'558, 1'016'162});
  CHECK(first(std::uint64_t{1} << 40, 5) ==
        Values{336'835'452'879, 53'214'543'921, 346'272'055'712, 880'864'733'981, 751'230'849'286});
}

TEST_CASE("each value is equally likely at each position") {
  for (const std::uint64_t size : {2u, 3u, 5u, 8u, 9u, 17u, 64u, 100u, 300u}) {
    CAPTURE(size);
    const std::uint64_t keys = 2000 + 20 * size;
    std::vector<std::uint64_t> table(size * size);
    for (std::uint64_t key = 0; key < keys; ++key) {
      const Permutation permutation(size, epoch_key(key));
      for (std::uint64_t i = 0; i < size; ++i) ++table[i * size + permutation(i)];
    }
    CHECK(std::abs(deviations_of_permutations(table, size, keys)) < kFair);
  }
}

TEST_CASE("pairs of values are equally likely") {
  for (const std::uint64_t size : {3u, 4u, 6u, 9u, 16u, 25u, 40u}) {
    CAPTURE(size);
    // Neighbours, and positions that a network without enough rounds would treat alike: a root of the size apart.
    const auto root = static_cast<std::uint64_t>(std::ceil(std::sqrt(static_cast<double>(size))));
    for (const std::uint64_t other : {std::uint64_t{1}, root, size - 1}) {
      CAPTURE(other);
      std::vector<std::uint64_t> counts(size * (size - 1));
      for (std::uint64_t key = 0; key < 20 * counts.size() + 20'000; ++key) {
        const Permutation permutation(size, epoch_key(key));
        const std::uint64_t a = permutation(0);
        const std::uint64_t b = permutation(other);
        ++counts[a * (size - 1) + (b < a ? b : b - 1)];
      }
      CHECK(std::abs(deviations_from_equal(counts)) < kFair);
    }
  }
}

TEST_CASE("pairs of values of large permutations are equally likely") {
  for (const std::uint64_t size : {4096u, 9409u, 100'000u, 1'281'167u}) {
    CAPTURE(size);
    const auto root = static_cast<std::uint64_t>(std::ceil(std::sqrt(static_cast<double>(size))));
    for (const std::uint64_t other : {std::uint64_t{1}, root, root - 1, size / 2, size - 1}) {
      CAPTURE(other);
      Joint joint(size, 16);
      for (std::uint64_t key = 0; key < 40'000; ++key) {
        const Permutation permutation(size, epoch_key(key));
        joint.add(permutation(0), permutation(other));
      }
      CHECK(std::abs(joint.deviations()) < kFair);
    }
  }
}

TEST_CASE("neighbours of one permutation differ by anything") {
  for (const std::uint64_t size : {4096u, 9409u, 100'000u, 1'281'167u}) {
    CAPTURE(size);
    const auto root = static_cast<std::uint64_t>(std::ceil(std::sqrt(static_cast<double>(size))));
    for (const std::uint64_t step : {std::uint64_t{1}, root, root - 1}) {
      CAPTURE(step);
      std::vector<std::uint64_t> counts(64);
      for (std::uint64_t epoch = 0; epoch < 1 + 100'000 / size; ++epoch) {
        const Permutation permutation(size, epoch_key(epoch));
        for (std::uint64_t i = 0; i + step < std::min<std::uint64_t>(size, 100'000); i += 2) {
          const std::uint64_t difference = (permutation(i + step) + size - permutation(i)) % size;
          ++counts[difference * counts.size() / size];
        }
      }
      CHECK(std::abs(deviations_from_equal(counts)) < kFair);
    }
  }
}

TEST_CASE("of few values, every permutation is equally likely") {
  for (std::uint64_t size = 2, count = 2; size <= 7; count *= ++size) {
    CAPTURE(size);
    std::vector<std::uint64_t> counts(count);
    for (std::uint64_t key = 0; key < 20'000 + 20 * count; ++key) ++counts[rank_of(values_of(size, epoch_key(key)))];
    CHECK(std::abs(deviations_from_equal(counts)) < kFair);
  }
}

TEST_CASE("permutations are even half of the time, also where rounds alone would make even ones only") {
  for (std::uint64_t size = 2; size <= 50; ++size) {
    CAPTURE(size);
    std::vector<std::uint64_t> counts(2);
    for (std::uint64_t key = 0; key < 2000; ++key) ++counts[is_even(values_of(size, epoch_key(key))) ? 0 : 1];
    CHECK(std::abs(deviations_from_equal(counts)) < kFair);
  }
}

TEST_CASE("permutations of neighbouring keys, epochs and seeds are independent") {
  struct Pair {
    const char* what;
    std::uint64_t (*first)(std::uint64_t);
    std::uint64_t (*second)(std::uint64_t);
  };
  const Pair pairs[] = {
      {"key", [](std::uint64_t i) { return 2 * i; }, [](std::uint64_t i) { return 2 * i + 1; }},
      {"high bit", [](std::uint64_t i) { return i; }, [](std::uint64_t i) { return i | std::uint64_t{1} << 63; }},
      {"epoch", [](std::uint64_t i) { return epoch_key(2 * i); }, [](std::uint64_t i) { return epoch_key(2 * i + 1); }},
      {"seed", [](std::uint64_t i) { return random_key(2 * i, 5, RandomPurpose::order); },
       [](std::uint64_t i) { return random_key(2 * i + 1, 5, RandomPurpose::order); }},
      {"dataset", [](std::uint64_t i) { return random_key(1, i, RandomPurpose::order, 0); },
       [](std::uint64_t i) { return random_key(1, i, RandomPurpose::order, 1); }},
      {"pass", [](std::uint64_t i) { return random_key(i, 0, RandomPurpose::order, 0, 0); },
       [](std::uint64_t i) { return random_key(i, 0, RandomPurpose::order, 0, 1); }},
  };
  for (const auto& [what, first, second] : pairs) {
    CAPTURE(what);
    for (const std::uint64_t size : {7u, 100u, 5000u}) {
      CAPTURE(size);
      Joint joint(size, 7);
      std::vector<std::uint64_t> same(2);
      const std::uint64_t keys = size == 7 ? 20'000 : 2000;
      for (std::uint64_t i = 0; i < keys; ++i) {
        const Permutation a(size, first(i));
        const Permutation b(size, second(i));
        joint.add(a(3), b(3));
        for (std::uint64_t position = 0; position < 7; ++position) ++same[a(position) == b(position) ? 1 : 0];
      }
      CHECK(std::abs(joint.deviations()) < kFair);
      if (size == 7) {  // on average each pair has one fixed point, with variance 1
        const double excess = static_cast<double>(same[1]) - static_cast<double>(keys);
        CHECK(std::abs(excess / std::sqrt(static_cast<double>(keys))) < kFair);
      } else {
        const double expected = 7.0 * static_cast<double>(keys) / static_cast<double>(size);
        CHECK(std::abs(static_cast<double>(same[1]) - expected) / std::sqrt(expected) < kFair);
      }
    }
  }
}
