// Several ways of doing the same work, timed in turns by the CPU time of one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace imgpack {

/// CPU seconds of the process so far. Steadier than wall time where others use the machine.
inline double cpu_seconds() {
  std::timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Each contestant does items 0, 1, ... in every round, one contestant after the other; an item's shortest time of all
/// rounds counts, since whatever disturbs only ever adds.
class Contest {
 public:
  using Work = std::function<void(std::size_t item)>;

  explicit Contest(std::size_t items) : items_(items) {}

  void add(std::string name, Work work) {
    contestants_.push_back(
        {std::move(name), std::move(work), std::vector<double>(items_, std::numeric_limits<double>::max())});
  }
  void run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (Contestant& contestant : contestants_) {
        for (std::size_t i = 0; i < items_; ++i) {
          const double begin = cpu_seconds();
          contestant.work(i);
          contestant.best[i] = std::min(contestant.best[i], cpu_seconds() - begin);
        }
      }
    }
  }
  std::size_t items() const { return items_; }
  std::size_t size() const { return contestants_.size(); }
  const std::string& name(std::size_t contestant) const { return contestants_[contestant].name; }
  /// For all items.
  double seconds(std::size_t contestant) const {
    const std::vector<double>& best = contestants_[contestant].best;
    return std::accumulate(best.begin(), best.end(), 0.0);
  }

 private:
  struct Contestant {
    std::string name;
    Work work;
    std::vector<double> best;
  };

  std::size_t items_;
  std::vector<Contestant> contestants_;
};

}  // namespace imgpack
