// The engine while the number of its threads changes.
#include "reader/pipeline/engine.h"

#include <doctest/doctest.h>

#include "reader/loader_testing.h"

namespace imgpack {

namespace {

using testing::look_at;
using testing::PackedImages;
using testing::SeenBatch;
using testing::small_options;

std::vector<SeenBatch> epoch_of(Engine& engine, std::uint64_t number) {
  const std::shared_ptr<Run> run = engine.begin(number, 0, 7, 0);
  std::vector<SeenBatch> seen;
  while (const std::optional<Batch> batch = engine.next(*run)) seen.push_back(look_at(*batch));
  engine.end(*run);
  return seen;
}

TEST_CASE("threads that come, park and return make the same batches") {
  const PackedImages images;
  const Dataset data = images.open();
  const auto plan_of = [&](const LoaderOptions& options) {
    return WorkPlan(Sampler::create({{.dataset = data, .split = "train"}}, {}, 7), options);
  };
  LoaderOptions options = small_options(4);
  const WorkPlan fixed = plan_of(options);
  Counters fixed_counters;
  const std::shared_ptr<Engine> expected = Engine::create(fixed, fixed_counters);

  WorkPlan plan = plan_of(options);
  plan.start_threads = 2;
  plan.most_threads = 6;
  plan.tuning_window = 0.002;
  Counters counters;
  const std::shared_ptr<Engine> engine = Engine::create(plan, counters);
  unsigned fewest = 2, most = 2;
  for (std::uint64_t number = 0; number < 60; ++number) {
    REQUIRE(epoch_of(*engine, number) == epoch_of(*expected, number));
    fewest = std::min(fewest, engine->threads());
    most = std::max(most, engine->threads());
  }
  CHECK(most > fewest);
}

}  // namespace

}  // namespace imgpack
