#include "measure/contest.h"

#include <string>

#include <doctest/doctest.h>

namespace imgpack::measure {

namespace {

using Contestant = std::function<MeasureRun(const Turn&)>;

/// Notes each run as a letter, in lower case while warming up.
Contestant noting(std::string& notes, char letter) {
  return [&notes, letter](const Turn& turn) {
    notes += turn.warm_up ? static_cast<char>(letter - 'A' + 'a') : letter;
    return MeasureRun{.samples = turn.round + 1, .seconds = 1};
  };
}

}  // namespace

TEST_CASE("contestants run in turns, each round begins with another") {
  std::string notes;
  const auto results = hold_contest({noting(notes, 'A'), noting(notes, 'B'), noting(notes, 'C')},
                                    {.rounds = 3, .warm_up_rounds = 1, .stop = {}, .progress = {}});
  CHECK(notes == "abcBCACABABC");
  REQUIRE(results.size() == 3);
  for (const ContestResult& result : results) {
    CHECK_FALSE(result.failure.has_value());
    REQUIRE(result.runs.size() == 3);
    for (std::size_t round = 0; round < 3; ++round) CHECK(result.runs[round].samples == round + 1);
  }
}

TEST_CASE("who fails takes no further part") {
  std::string notes;
  int tries = 0;
  const Contestant failing = [&](const Turn& turn) -> MeasureRun {
    ++tries;
    if (!turn.warm_up && turn.round == 1) throw Error(ErrorCode::damaged, "broken");
    return {.samples = 1, .seconds = 1};
  };
  const auto results =
      hold_contest({failing, noting(notes, 'B')}, {.rounds = 4, .warm_up_rounds = 2, .stop = {}, .progress = {}});
  CHECK(tries == 4);
  CHECK(notes == "bbBBBB");
  REQUIRE(results[0].failure.has_value());
  CHECK(results[0].failure->code() == ErrorCode::damaged);
  CHECK(results[0].runs.size() == 1);
  CHECK(results[1].runs.size() == 4);
}

TEST_CASE("a contest can be stopped between any two runs") {
  std::string notes;
  const ContestOptions options{
      .rounds = 100, .warm_up_rounds = 0, .stop = [&] { return notes.size() == 5; }, .progress = {}};
  const auto results = hold_contest({noting(notes, 'A'), noting(notes, 'B')}, options);
  CHECK(notes == "ABBAA");
  CHECK(results[0].runs.size() == 3);
  CHECK(results[1].runs.size() == 2);
}

TEST_CASE("progress tells whose turn it is") {
  std::string notes;
  std::string told;
  const ContestOptions options{.rounds = 2,
                               .warm_up_rounds = 1,
                               .stop = {},
                               .progress = [&](std::size_t contestant, std::size_t done, std::size_t total) {
                                 told += std::to_string(contestant) + ":" + std::to_string(done) + "/" +
                                         std::to_string(total) + " ";
                               }};
  hold_contest({noting(notes, 'A'), noting(notes, 'B')}, options);
  CHECK(told == "0:0/6 1:1/6 1:2/6 0:3/6 0:4/6 1:5/6 ");
  CHECK(hold_contest({}, options).empty());
}

}  // namespace imgpack::measure
