#include "measure/comparison.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "measure/contest.h"

namespace imgpack::measure {

namespace {

/// Of a run, for the warm-up.
constexpr double kWarmUpShare = 0.2;

/// Rows of one measure. `done` counts runs of the measures before.
std::vector<Row> compare_one(Measure measure, std::span<const std::unique_ptr<Subject>> subjects,
                             const ComparisonOptions& options, std::size_t before, std::size_t total) {
  std::vector<Row> rows(subjects.size());
  std::vector<std::size_t> taking_part;
  std::vector<std::function<MeasureRun(const Turn&)>> contestants;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    rows[i].measure = measure;
    rows[i].subject = i;
    if (auto reason = not_applicable(measure, *subjects[i], options.run)) {
      rows[i].reason = *std::move(reason);
      continue;
    }
    taking_part.push_back(i);
    contestants.emplace_back([&, i](const Turn& turn) {
      MeasureOptions run = options.run;
      if (turn.warm_up) run.seconds *= kWarmUpShare;
      RowRun result = run_once(measure, *subjects[i], run, options.cold, options.seed + turn.round);
      if (!turn.warm_up) rows[i].runs.push_back(result);
      return std::move(result.run);
    });
  }
  ContestOptions contest{
      .rounds = options.rounds, .warm_up_rounds = options.cold ? 0U : 1U, .stop = options.run.stop, .progress = {}};
  if (options.progress) {
    contest.progress = [&](std::size_t contestant, std::size_t done, std::size_t /*of_this_contest*/) {
      options.progress(measure, *subjects[taking_part[contestant]], before + done, total);
    };
  }
  const std::vector<ContestResult> results = hold_contest(contestants, contest);
  for (std::size_t i = 0; i < results.size(); ++i) rows[taking_part[i]].failure = results[i].failure;
  return rows;
}

template <class Value>
Summary summary_of(const std::vector<RowRun>& runs, Value&& value) {
  std::vector<double> values;
  for (const RowRun& run : runs) values.push_back(value(run.run));
  return summarize(values);
}

}  // namespace

Summary Row::rates() const {
  return summary_of(runs, [](const MeasureRun& run) { return run.rate(); });
}

Summary Row::byte_rates() const {
  return summary_of(
      runs, [](const MeasureRun& run) { return run.seconds > 0 ? static_cast<double>(run.bytes) / run.seconds : 0; });
}

Summary Row::cpu_costs() const {
  return summary_of(runs, [](const MeasureRun& run) {
    return run.samples > 0 ? run.cpu_seconds / static_cast<double>(run.samples) : 0;
  });
}

const RowRun& Row::typical() const {
  std::vector<const RowRun*> sorted;
  for (const RowRun& run : runs) sorted.push_back(&run);
  std::ranges::stable_sort(sorted, {}, [](const RowRun* run) { return run->run.rate(); });
  return *sorted[sorted.size() / 2];
}

std::optional<Eviction> Row::worst_eviction() const {
  const RowRun* worst = nullptr;
  for (const RowRun& run : runs) {
    if (!run.eviction) continue;
    if (worst == nullptr || run.eviction->after.resident_bytes > worst->eviction->after.resident_bytes) worst = &run;
  }
  return worst == nullptr ? std::nullopt : worst->eviction;
}

RowRun run_once(Measure measure, const Subject& subject, const MeasureOptions& options, bool cold, std::uint64_t seed) {
  MeasureOptions run = options;
  run.single_pass = cold;
  RowRun result;
  if (cold) result.eviction = evict(subject.files());
  result.run = measurement_of(measure)({.subject = subject, .options = run, .seed = seed});
  if (cold) result.resident_after = residency_of(subject.files());
  return result;
}

std::vector<Row> compare(std::span<const std::unique_ptr<Subject>> subjects, const ComparisonOptions& options) {
  const std::size_t runs_a_measure = subjects.size() * (options.rounds + (options.cold ? 0U : 1U));
  std::vector<Row> rows;
  for (std::size_t i = 0; i < options.measures.size(); ++i) {
    if (options.run.stop && options.run.stop()) break;
    std::vector<Row> of_measure = compare_one(options.measures[i], subjects, options, i * runs_a_measure,
                                              options.measures.size() * runs_a_measure);
    std::ranges::move(of_measure, std::back_inserter(rows));
  }
  return rows;
}

}  // namespace imgpack::measure
