#include "measure/advice.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace imgpack::measure {

namespace {

constexpr double kFarLess = 0.8;
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

/// A name as a shell takes it.
std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-+=:,@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

/// As Python takes it.
std::string python_string(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string loader_with(const Situation& situation, const std::string& option) {
  return fmt::format("imgpack.Loader({}, {})", python_string(situation.dataset), option);
}

/// What all stages would allow together, with these figures in place of their own for some; those that were not
/// measured do not count.
double rate_with(const Situation& situation, std::span<const StageFigure> changed) {
  double rate = 0;
  const auto pass = [&rate](const StageFigure& stage) {
    if (stage.measured() && (rate == 0 || stage.rates.median < rate)) rate = stage.rates.median;
  };
  for (const StageFigure& stage : situation.stages) {
    if (std::ranges::find(changed, stage.stage, &StageFigure::stage) == changed.end()) pass(stage);
  }
  std::ranges::for_each(changed, pass);
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
  const StageFigure* const cpu = find(situation, Stage::cpu);
  if (enough <= situation.threads || found == situation.sweep.end() || cpu == nullptr) return;
  // In proportion to what as many threads as now gave beside them, in the same minutes.
  const auto now = std::ranges::find(situation.sweep, situation.threads, &StageFigure::threads);
  StageFigure more = *found;
  if (now != situation.sweep.end() && now->measured()) {
    more.rates = known_rate(cpu->rates.median * found->rates.median / now->rates.median);
  }
  remedies.push_back({.what = fmt::format("{} threads instead of {}", enough, situation.threads),
                      .command = loader_with(situation, fmt::format("threads={}", enough)),
                      .rate = rate_with(situation, std::span(&more, 1))});
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
                      .command = loader_with(situation, "device=\"cuda\""),
                      .rate = rate_with(situation, changed)});
}

void add_bytes(const Situation& situation, std::vector<Remedy>& remedies) {
  const StageFigure* const copy = find(situation, Stage::copy);
  if (copy == nullptr || situation.value_bytes <= 1) return;
  StageFigure smaller = *copy;  // what a copy takes goes by bytes
  smaller.rates.median *= static_cast<double>(situation.value_bytes);
  remedies.push_back({.what = "uint8 batches, normalised on the GPU",
                      .command = loader_with(situation, "dtype=\"uint8\""),
                      .rate = rate_with(situation, std::span(&smaller, 1))});
}

/// What the disk would allow if the dataset were packed so; without figures if it would have room in memory.
StageFigure disk_with(const Situation& situation, const VariantFigure& variant) {
  StageFigure disk{.stage = Stage::disk};
  const bool has_room = variant.bytes_per_image * static_cast<double>(situation.images) <= situation.memory_bytes;
  if (has_room && !situation.cold) return disk;
  if (situation.disk_bytes_per_second > 0 && variant.bytes_per_image > 0) {
    disk.rates = known_rate(situation.disk_bytes_per_second / variant.bytes_per_image);
  }
  return disk;
}

void add_variants(const Situation& situation, std::vector<Remedy>& remedies) {
  if (situation.variants.empty() || situation.variants.front().rates.median <= 0) return;
  const StageFigure* const cpu = find(situation, Stage::cpu);
  for (const VariantFigure& variant : situation.variants) {
    if (variant.options.empty() || variant.rates.median <= 0) continue;
    std::vector<StageFigure> changed = {disk_with(situation, variant)};
    if (cpu != nullptr) {
      changed.push_back(*cpu);
      changed.back().rates.median *= variant.rates.median / situation.variants.front().rates.median;
    }
    remedies.push_back(
        {.what = fmt::format("packing as {}", variant.name),
         .command = fmt::format("imgpack convert {} packed.rec {}", shell_word(situation.dataset), variant.options),
         .rate = rate_with(situation, changed)});
  }
}

/// All that may help, the least change first.
std::vector<Remedy> remedies_of(const Situation& situation) {
  std::vector<Remedy> all;
  add_threads(situation, all);
  add_bytes(situation, all);
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

/// What to add where all together give far less, or far more, than the bound allows.
std::string together_words(const Situation& situation, const Diagnosis& diagnosis) {
  const double together = situation.together.median;
  if (together <= 0) return {};
  if (together < diagnosis.rate * kFarLess) {
    return fmt::format(" All together give {}, so stages are in each other's way.", rate_text(together));
  }
  if (together > diagnosis.rate / kFarLess) {
    return fmt::format(" All together gave {}, more than the bound: measuring was disturbed.", rate_text(together));
  }
  return {};
}

/// What is delivered as things are, as far as is known.
double delivered(const Situation& situation, const Diagnosis& diagnosis) {
  return situation.together.median > 0 ? std::min(diagnosis.rate, situation.together.median) : diagnosis.rate;
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
    advice.sentence = words +
                      (advice.diagnosis.clear() ? ": loading needs no change." : ": loading has nothing to spare.") +
                      together_words(situation, advice.diagnosis);
    return advice;
  }
  advice.remedies = remedies_of(situation);
  const Remedy* const best = best_of(advice.remedies);
  if (best == nullptr) {
    advice.sentence =
        fmt::format("{}; nothing that was tried would be faster{}.", words,
                    bound == Stage::disk ? ": a faster disk, or memory for the whole dataset, would" : "");
    advice.sentence += together_words(situation, advice.diagnosis);
    return advice;
  }
  advice.sentence = fmt::format("{}; {} would give about {}.", words, best->what, rate_text(best->rate)) +
                    together_words(situation, advice.diagnosis);
  advice.command = best->command;
  return advice;
}

TargetAnswer answer_target(const Situation& situation, const Advice& advice, double images_per_second) {
  TargetAnswer answer{.wanted = images_per_second, .reached = false, .remedy = {}, .sentence = {}};
  if (!advice.diagnosis.bound) {
    answer.sentence = "Nothing could be measured.";
    return answer;
  }
  const double now = delivered(situation, advice.diagnosis);
  answer.reached = now >= images_per_second;
  const std::string wanted = rate_text(images_per_second);
  if (answer.reached) {
    answer.sentence = fmt::format("{} are reached as it is: {}.", wanted, rate_text(now));
    return answer;
  }
  double best = now;
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
