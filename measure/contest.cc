#include "measure/contest.h"

#include <utility>

namespace imgpack::measure {

std::vector<ContestResult> hold_contest(const std::vector<std::function<MeasureRun(const Turn&)>>& contestants,
                                        const ContestOptions& options) {
  const std::size_t count = contestants.size();
  const std::size_t rounds = std::size_t{options.warm_up_rounds} + options.rounds;
  std::vector<ContestResult> results(count);
  std::size_t done = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    const bool warm_up = round < options.warm_up_rounds;
    const Turn turn{.round = warm_up ? 0 : static_cast<unsigned>(round - options.warm_up_rounds), .warm_up = warm_up};
    for (std::size_t i = 0; i < count; ++i, ++done) {
      const std::size_t number = (round + i) % count;
      ContestResult& result = results[number];
      if (result.failure) continue;
      if (options.stop && options.stop()) return results;
      if (options.progress) options.progress(number, done, rounds * count);
      try {
        MeasureRun run = contestants[number](turn);
        if (!warm_up) result.runs.push_back(std::move(run));
      } catch (const Error& error) {
        result.failure = error;
      }
    }
  }
  return results;
}

}  // namespace imgpack::measure
