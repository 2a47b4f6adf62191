#include "measure/diagnosis.h"

#include <vector>

#include <doctest/doctest.h>

using namespace imgpack::measure;

namespace {

StageFigure figure(Stage stage, std::vector<double> rates, unsigned threads = 0) {
  return {.stage = stage, .rates = summarize(rates), .threads = threads};
}

}  // namespace

TEST_CASE("diagnosis: the slowest stage is the bound") {
  const std::vector<StageFigure> stages = {figure(Stage::disk, {900, 1000, 1100}),
                                           figure(Stage::cpu, {200, 210, 220}),
                                           figure(Stage::consumer, {5000}),
                                           {.stage = Stage::gpu, .reason = "none"}};
  const Diagnosis diagnosis = diagnose(stages);
  CHECK(diagnosis.bound == Stage::cpu);
  CHECK(diagnosis.clear());
  CHECK(diagnosis.rate == doctest::Approx(210));
}

TEST_CASE("diagnosis: what noise can't tell apart is said to be as close") {
  const std::vector<StageFigure> near = {figure(Stage::cpu, {100}), figure(Stage::consumer, {109}),
                                         figure(Stage::disk, {500})};
  CHECK(diagnose(near).as_close == std::vector{Stage::consumer});
  CHECK_FALSE(diagnose(near).clear());
  const std::vector<StageFigure> noisy = {figure(Stage::cpu, {50, 100, 200, 220}),
                                          figure(Stage::disk, {120, 180, 260})};
  CHECK(diagnose(noisy).as_close == std::vector{Stage::disk});
  CHECK_FALSE(diagnose({}).bound.has_value());
  CHECK_FALSE(diagnose({}).clear());
}

TEST_CASE("diagnosis: the smallest number of threads on the plateau") {
  CHECK(enough_threads(std::vector{figure(Stage::cpu, {100}, 1), figure(Stage::cpu, {190}, 2),
                                   figure(Stage::cpu, {260}, 4), figure(Stage::cpu, {270}, 8)}) == 4);
  CHECK(enough_threads(std::vector{figure(Stage::cpu, {100}, 1)}) == 1);
  CHECK(enough_threads(std::vector{figure(Stage::cpu, {270}, 8), figure(Stage::cpu, {269}, 2)}) == 2);
  CHECK(enough_threads({}) == 0);
}
