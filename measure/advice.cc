#include "measure/advice.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace imgpack::measure {

namespace {

constexpr double kWorthIt = 1.05;  ///< less would not be noticed, or may be noise

std::string rate_text(double rate) {
  return fmt::format("{:.0f} images/s", rate);
}

/// In words that a sentence begins with.
const char* subject_of(Stage stage) {
  switch (stage) {
    case Stage::disk:
      return "Reading from disk";
    case Stage::copy:
    case Stage::pinned:
      return "Copying batches to the GPU";
    case Stage::gpu:
      return "Decoding on the GPU";
    case Stage::consumer:
      return "The consumer";
    default:
      return "Decoding on the CPU";
  }
}

/// The stages with other figures for some: what all would allow together.
double rate_with(const Situation& situation, std::span<const StageFigure> changed) {
  double rate = 0;
  for (const StageFigure& stage : situation.stages) {
    double own = stage.measured() ? stage.rates.median : 0;
    for (const StageFigure& other : changed) {
      if (other.stage == stage.stage) own = other.measured() ? other.rates.median : 0;
    }
    if (own > 0 && (rate == 0 || own < rate)) rate = own;
  }
  return rate;
}

const StageFigure* find(const Situation& situation, Stage stage) {
  for (const StageFigure& figure : situation.stages) {
    if (figure.stage == stage && figure.measured()) return &figure;
  }
  return nullptr;
}

void add_threads(const Situation& situation, std::vector<Remedy>& remedies) {
  const unsigned enough = enough_threads(situation.sweep);
  const auto found = std::find_if(situation.sweep.begin(), situation.sweep.end(),
                                  [&](const StageFigure& figure) { return figure.threads == enough; });
  if (enough <= situation.threads || found == situation.sweep.end() || find(situation, Stage::cpu) == nullptr) return;
  remedies.push_back({.what = fmt::format("{} threads instead of {}", enough, situation.threads),
                      .command = fmt::format("imgpack.Loader(\"{}\", threads={})", situation.dataset, enough),
                      .rate = rate_with(situation, std::span(&*found, 1))});
}

void add_gpu(const Situation& situation, std::vector<Remedy>& remedies) {
  if (!situation.gpu || !situation.gpu->measured()) return;
  // What was done by the CPU, and the copy of finished batches, is done by the GPU instead.
  std::vector<StageFigure> changed;
  for (const Stage stage : {Stage::cpu, Stage::copy, Stage::pinned}) {
    changed.push_back(*situation.gpu);
    changed.back().stage = stage;
  }
  remedies.push_back({.what = "decoding on the GPU",
                      .command = fmt::format("imgpack.Loader(\"{}\", device=\"cuda\")", situation.dataset),
                      .rate = rate_with(situation, changed)});
}

void add_pinned(const Situation& situation, std::vector<Remedy>& remedies) {
  const StageFigure* const copy = find(situation, Stage::copy);
  if (copy == nullptr) return;
  StageFigure quarter = *copy;  // uint8 is a quarter of float32, and what a copy takes goes by bytes
  quarter.rates.median *= 4;
  remedies.push_back({.what = "uint8 batches, normalised on the GPU",
                      .command = fmt::format("imgpack.Loader(\"{}\", dtype=\"uint8\")", situation.dataset),
                      .rate = rate_with(situation, std::span(&quarter, 1))});
}

void add_variants(const Situation& situation, std::vector<Remedy>& remedies) {
  if (situation.variants.empty() || situation.variants.front().rates.median <= 0) return;
  const StageFigure* const cpu = find(situation, Stage::cpu);
  for (const VariantFigure& variant : situation.variants) {
    if (variant.options.empty() || variant.rates.median <= 0) continue;
    std::vector<StageFigure> changed;
    if (cpu != nullptr) {
      changed.push_back(*cpu);
      changed.back().rates.median *= variant.rates.median / situation.variants.front().rates.median;
    }
    if (situation.disk_bytes_per_second > 0 && variant.bytes_per_image > 0) {
      const double rate = situation.disk_bytes_per_second / variant.bytes_per_image;
      changed.push_back({.stage = Stage::disk, .rates = known_rate(rate)});
    }
    remedies.push_back({.what = fmt::format("packing as {}", variant.name),
                        .command = fmt::format("imgpack convert {} packed.rec {}", situation.dataset, variant.options),
                        .rate = rate_with(situation, changed)});
  }
}

/// All that may help, the least change first.
std::vector<Remedy> remedies_of(const Situation& situation) {
  std::vector<Remedy> all;
  add_threads(situation, all);
  add_pinned(situation, all);
  add_gpu(situation, all);
  add_variants(situation, all);
  const double now = rate_with(situation, {});
  std::erase_if(all, [now](const Remedy& remedy) { return remedy.rate < now * kWorthIt; });
  return all;
}

/// The first one that is hardly worse than the best.
const Remedy* best_of(const std::vector<Remedy>& remedies) {
  double best = 0;
  for (const Remedy& remedy : remedies) best = std::max(best, remedy.rate);
  for (const Remedy& remedy : remedies) {
    if (remedy.rate * kWorthIt >= best) return &remedy;
  }
  return nullptr;
}

std::string bound_words(const Situation& situation, const Diagnosis& diagnosis) {
  const Stage bound = *diagnosis.bound;
  if (bound != Stage::consumer) {
    return fmt::format("{} is the bound, at {}", subject_of(bound), rate_text(diagnosis.rate));
  }
  double loading = 0;
  for (const StageFigure& stage : situation.stages) {
    if (stage.stage == Stage::consumer || !stage.measured()) continue;
    if (loading == 0 || stage.rates.median < loading) loading = stage.rates.median;
  }
  return fmt::format("The consumer is the bound: it takes {}, and loading can deliver {:.1f} times as many",
                     rate_text(diagnosis.rate), diagnosis.rate > 0 ? loading / diagnosis.rate : 0);
}

}  // namespace

Advice advise(const Situation& situation) {
  Advice advice{.diagnosis = diagnose(situation.stages), .sentence = {}, .command = {}, .remedies = {}};
  if (!advice.diagnosis.bound) {
    advice.sentence = "Nothing could be measured.";
    return advice;
  }
  const Stage bound = *advice.diagnosis.bound;
  std::string words = bound_words(situation, advice.diagnosis);
  if (!advice.diagnosis.clear()) {
    words += ", but";
    for (std::size_t i = 0; i < advice.diagnosis.as_close.size(); ++i) {
      words += fmt::format("{} {}", i == 0 ? "" : ",", to_string(advice.diagnosis.as_close[i]));
    }
    words += advice.diagnosis.as_close.size() == 1 ? " is as close as can be told" : " are as close as can be told";
  }
  if (bound == Stage::consumer) {
    advice.sentence = words + ": loading needs no change.";
    return advice;
  }
  advice.remedies = remedies_of(situation);
  const Remedy* const best = best_of(advice.remedies);
  if (best == nullptr) {
    advice.sentence =
        fmt::format("{}; nothing that was tried would be faster{}.", words,
                    bound == Stage::disk ? ": a faster disk, or memory for the whole dataset, would" : "");
    return advice;
  }
  advice.sentence = fmt::format("{}; {} would give about {}.", words, best->what, rate_text(best->rate));
  advice.command = best->command;
  return advice;
}

TargetAnswer answer_target(const Situation& situation, const Advice& advice, double images_per_second) {
  TargetAnswer answer{.wanted = images_per_second, .reached = false, .remedy = {}, .sentence = {}};
  if (!advice.diagnosis.bound) {
    answer.sentence = "Nothing could be measured.";
    return answer;
  }
  answer.reached = advice.diagnosis.rate >= images_per_second;
  const std::string wanted = rate_text(images_per_second);
  if (answer.reached) {
    answer.sentence = fmt::format("{} are reached as it is: {}.", wanted, rate_text(advice.diagnosis.rate));
    return answer;
  }
  double best = advice.diagnosis.rate;
  for (const Remedy& remedy : remedies_of(situation)) {
    best = std::max(best, remedy.rate);
    if (remedy.rate < images_per_second) continue;
    answer.remedy = remedy;
    answer.sentence = fmt::format("{} can be reached by {}: about {}.", wanted, remedy.what, rate_text(remedy.rate));
    return answer;
  }
  const StageFigure* const consumer = find(situation, Stage::consumer);
  if (consumer != nullptr && consumer->rates.median < images_per_second) {
    answer.sentence =
        fmt::format("{} can't be reached: the consumer itself takes {}.", wanted, rate_text(consumer->rates.median));
  } else {
    answer.sentence =
        fmt::format("{} can't be reached here by anything that was tried: at most about {}.", wanted, rate_text(best));
  }
  return answer;
}

}  // namespace imgpack::measure
