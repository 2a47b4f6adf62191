#include "measure/diagnosis.h"

#include <algorithm>

#include "mmap/enum_names.h"

namespace imgpack::measure {

namespace {

constexpr EnumNames<Stage, 8> kNames = {{{Stage::disk, "disk"},
                                         {Stage::memory, "memory"},
                                         {Stage::entropy, "entropy"},
                                         {Stage::cpu, "cpu"},
                                         {Stage::copy, "copy"},
                                         {Stage::pinned, "pinned"},
                                         {Stage::gpu, "gpu"},
                                         {Stage::consumer, "consumer"}}};

constexpr double kClose = 1.1;
constexpr double kPlateau = 0.95;

bool are_close(const Summary& slowest, const Summary& other) {
  return other.median <= slowest.median * kClose || other.lower <= slowest.upper;
}

}  // namespace

std::string_view to_string(Stage stage) noexcept {
  return name_of(kNames, stage);
}

Summary known_rate(double images_per_second) {
  return summarize(std::span(&images_per_second, 1));
}

Diagnosis diagnose(std::span<const StageFigure> stages) {
  std::vector<const StageFigure*> measured;
  for (const StageFigure& stage : stages) {
    if (stage.measured()) measured.push_back(&stage);
  }
  std::stable_sort(measured.begin(), measured.end(),
                   [](const StageFigure* a, const StageFigure* b) { return a->rates.median < b->rates.median; });
  Diagnosis diagnosis;
  if (measured.empty()) return diagnosis;
  const StageFigure& slowest = *measured.front();
  diagnosis.bound = slowest.stage;
  diagnosis.rate = slowest.rates.median;
  for (std::size_t i = 1; i < measured.size(); ++i) {
    if (are_close(slowest.rates, measured[i]->rates)) diagnosis.as_close.push_back(measured[i]->stage);
  }
  return diagnosis;
}

unsigned enough_threads(std::span<const StageFigure> sweep) {
  double best = 0;
  for (const StageFigure& figure : sweep) best = std::max(best, figure.rates.median);
  unsigned enough = 0;
  for (const StageFigure& figure : sweep) {
    if (!figure.measured() || figure.rates.median < best * kPlateau) continue;
    if (enough == 0 || figure.threads < enough) enough = figure.threads;
  }
  return enough;
}

}  // namespace imgpack::measure
