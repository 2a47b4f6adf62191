#include "measure/examination.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "imgpack/device.h"
#include "imgpack/error.h"
#include "measure/contest.h"
#include "measure/copy_rates.h"
#include "measure/measurements.h"
#include "measure/stages.h"
#include "measure/subject.h"
#include "mmap/cpu_budget.h"
#include "mmap/memory_budget.h"

namespace imgpack::measure {

namespace {

using Runner = std::function<MeasureRun(const Turn&)>;

StageFigure figure_of(Stage stage, const ContestResult& result, unsigned threads) {
  StageFigure figure{.stage = stage, .threads = threads};
  std::vector<double> rates;
  double samples = 0;
  double bytes = 0;
  for (const MeasureRun& run : result.runs) {
    if (run.samples == 0) continue;
    rates.push_back(run.rate());
    samples += static_cast<double>(run.samples);
    bytes += static_cast<double>(run.bytes);
  }
  figure.rates = summarize(rates);
  if (samples > 0) figure.bytes_per_image = bytes / samples;
  if (result.failure) {
    figure.rates = {};
    figure.reason = result.failure->message();
  }
  return figure;
}

bool is_expected(const Error& error) {
  return error.code() == ErrorCode::unsupported || error.code() == ErrorCode::out_of_memory;
}

class Examiner {
 public:
  explicit Examiner(const ExaminationOptions& options)
      : options_(options),
        images_(options.dataset, options.split),
        totals_(count_images(images_)),
        subject_(open_packed_subject(options.dataset, options.split)) {
    if (images_.size() == 0) throw Error(ErrorCode::invalid_argument, "it has no images", {.file = options.dataset});
    if (options_.run.threads == 0) options_.run.threads = cpu_budget();
    if (options_.image_bytes == 0) options_.image_bytes = stored_image_bytes();
    found_.dataset = options.dataset;
    found_.images = images_.size();
    found_.payload_bytes = totals_.payload_bytes;
    found_.storage = subject_->storage();
    found_.memory_available = memory_available();
    found_.threads = options_.run.threads;
  }

  Examination run() {
    measure_alone();
    measure_copy();
    add_consumer();
    sweep();
    measure_together();
    compare_variants();
    conclude();
    return std::move(found_);
  }

 private:
  bool stopped() const { return options_.run.stop && options_.run.stop(); }
  void tell(std::string_view doing) const {
    if (options_.progress) options_.progress(doing);
  }
  bool on_gpu() const { return options_.run.device != "cpu"; }
  /// The page cache keeps a dataset that fits from the first epoch on.
  bool disk_counts() const {
    return found_.storage.kind != StorageKind::memory &&
           (options_.cold || found_.payload_bytes > found_.memory_available);
  }
  /// In a batch that has images as they are, all of one size.
  std::uint64_t stored_image_bytes() const {
    const RecordMeta meta = images_.store().meta(images_.record(0));
    return std::uint64_t{meta.width} * meta.height * 3 * size_of(options_.run.dtype);
  }
  MeasureContext context(const MeasureOptions& run, const Turn& turn) const {
    return {.subject = *subject_, .options = run, .seed = options_.seed + turn.round};
  }

  void measure_alone() {
    tell("each stage alone");
    std::vector<std::pair<Stage, Runner>> contestants;
    const MeasureOptions& run = options_.run;
    MeasureOptions on_cpu = run;
    on_cpu.device = "cpu";
    if (found_.storage.kind == StorageKind::memory) {
      found_.stages.push_back({.stage = Stage::disk, .reason = "the dataset lies in memory, there is no disk"});
    } else {
      contestants.emplace_back(
          Stage::disk, [&](const Turn& turn) { return measure_disk(images_, run, options_.seed + turn.round); });
    }
    contestants.emplace_back(
        Stage::memory, [&](const Turn& turn) { return measure_memory(images_, run, options_.seed + turn.round); });
    if (totals_.jpegs == 0) {
      found_.stages.push_back({.stage = Stage::entropy, .reason = "there are no JPEGs"});
    } else {
      contestants.emplace_back(
          Stage::entropy, [&](const Turn& turn) { return measure_entropy(images_, run, options_.seed + turn.round); });
    }
    contestants.emplace_back(
        Stage::cpu, [&, on_cpu](const Turn& turn) { return measure_batches(Measure::loader, context(on_cpu, turn)); });
    contestants.emplace_back(Stage::gpu,
                             [&](const Turn& turn) { return measure_batches(Measure::gpu, context(run, turn)); });
    std::vector<Runner> runners;
    for (const auto& [stage, runner] : contestants) runners.push_back(runner);
    const std::vector<ContestResult> results =
        hold_contest(runners, {.rounds = options_.rounds, .stop = options_.run.stop});
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Stage stage = contestants[i].first;
      const bool needed = stage != Stage::gpu || on_gpu();
      if (results[i].failure && (needed || !is_expected(*results[i].failure))) throw *results[i].failure;
      StageFigure& figure = found_.stages.emplace_back(figure_of(stage, results[i], options_.run.threads));
      if (stage == Stage::disk && figure.measured() && !reads_past_cache(images_)) {
        figure.reason = "not past the page cache, which the file system can't: evicted before, so far as that works";
      }
      if (stage == Stage::entropy && !figure.measured() && figure.reason.empty()) {
        figure.reason = "there are no baseline JPEGs";
      }
    }
    std::stable_sort(found_.stages.begin(), found_.stages.end(),
                     [](const StageFigure& a, const StageFigure& b) { return a.stage < b.stage; });
  }

  StageFigure copy_figure(Stage stage, double bytes_per_second, const std::string& reason) const {
    StageFigure figure{.stage = stage, .bytes_per_image = static_cast<double>(options_.image_bytes), .reason = reason};
    if (bytes_per_second > 0 && options_.image_bytes > 0) {
      figure.rates = known_rate(bytes_per_second / static_cast<double>(options_.image_bytes));
    }
    return figure;
  }

  void measure_copy() {
    if (stopped()) return;
    tell("copies");
    if (options_.copy_bytes_per_second > 0) {
      found_.stages.push_back(copy_figure(Stage::copy, options_.copy_bytes_per_second, "as assumed"));
      return;
    }
    const int device = device_from_name(options_.run.device).value_or(Device{}).index;
    const CopyRates rates =
        measure_copies(device, options_.image_bytes * options_.run.batch_size, options_.run.seconds / 2);
    found_.stages.push_back(copy_figure(Stage::copy, rates.pageable, rates.reason));
    found_.stages.push_back(copy_figure(Stage::pinned, rates.pinned, rates.reason));
  }

  void add_consumer() {
    StageFigure consumer{.stage = Stage::consumer};
    if (options_.run.step_seconds > 0) {
      consumer.rates = known_rate(options_.run.batch_size / options_.run.step_seconds);
    } else {
      consumer.reason = "none was given";
    }
    found_.stages.push_back(consumer);
  }

  void sweep() {
    if (stopped()) return;
    tell("numbers of threads");
    std::vector<unsigned> counts;
    const unsigned most = std::max(cpu_budget(), options_.run.threads);
    for (unsigned count = 1; count < most; count *= 2) counts.push_back(count);
    counts.push_back(most);
    std::vector<Runner> runners;
    for (const unsigned count : counts) {
      MeasureOptions run = options_.run;
      run.threads = count;
      run.device = "cpu";
      runners.emplace_back(
          [this, run](const Turn& turn) { return measure_batches(Measure::loader, context(run, turn)); });
    }
    const std::vector<ContestResult> results = hold_contest(
        runners, {.rounds = std::max(1U, options_.rounds - 1), .warm_up_rounds = 0, .stop = options_.run.stop});
    for (std::size_t i = 0; i < results.size(); ++i) {
      found_.sweep.push_back(figure_of(Stage::cpu, results[i], counts[i]));
    }
    found_.threads_enough = enough_threads(found_.sweep);
  }

  void measure_together() {
    if (stopped()) return;
    tell("all together");
    MeasureOptions run = options_.run;
    run.past_cache = disk_counts();
    const StageFigure* const copy = find(Stage::copy);
    if (copy != nullptr && copy->measured() && !on_gpu()) run.step_seconds += run.batch_size / copy->rates.median;
    std::vector<double> busy;
    const ContestResult result = hold_contest({[&](const Turn& turn) {
                                                const MeasureRun made =
                                                    measure_batches(Measure::train, context(run, turn));
                                                if (!turn.warm_up && made.seconds > 0) {
                                                  busy.push_back(made.work_seconds / made.seconds);
                                                }
                                                return made;
                                              }},
                                              {.rounds = options_.rounds, .stop = options_.run.stop})
                                     .front();
    if (result.failure) throw *result.failure;
    found_.together = figure_of(Stage::consumer, result, options_.run.threads).rates;
    if (options_.run.step_seconds > 0) found_.consumer_busy = std::min(1.0, summarize(busy).median);
  }

  void compare_variants() {
    if (stopped()) return;
    if (!options_.variants) {
      found_.variants_reason = "not asked for";
    } else if (totals_.jpegs * 2 < images_.size()) {
      found_.variants_reason = "most images are no JPEGs";
    } else {
      tell("variants");
      MeasureOptions run = options_.run;
      run.device = "cpu";
      found_.variants = try_variants(
          options_.dataset, {.run = run, .rounds = options_.rounds, .folder = options_.folder, .seed = options_.seed});
    }
  }

  const StageFigure* find(Stage stage) const {
    for (const StageFigure& figure : found_.stages) {
      if (figure.stage == stage) return &figure;
    }
    return nullptr;
  }

  void conclude() {
    Situation& situation = found_.situation;
    situation.dataset = options_.dataset;
    situation.images = found_.images;
    situation.threads = options_.run.threads;
    situation.value_bytes = size_of(options_.run.dtype);
    situation.sweep = found_.sweep;
    situation.together = found_.together;
    situation.variants = found_.variants;
    situation.memory_bytes = static_cast<double>(found_.memory_available);
    situation.cold = options_.cold;
    found_.disk_counts = disk_counts();
    std::vector<Stage> passed;
    if (found_.disk_counts) passed.push_back(Stage::disk);
    passed.push_back(on_gpu() ? Stage::gpu : Stage::cpu);
    if (!on_gpu()) passed.push_back(Stage::copy);
    passed.push_back(Stage::consumer);
    for (const Stage stage : passed) {
      const StageFigure* const figure = find(stage);
      if (figure != nullptr && figure->measured()) situation.stages.push_back(*figure);
    }
    if (const StageFigure* gpu = find(Stage::gpu); gpu != nullptr && !on_gpu()) situation.gpu = *gpu;
    if (const StageFigure* disk = find(Stage::disk); disk != nullptr && disk->measured()) {
      situation.disk_bytes_per_second = disk->rates.median * disk->bytes_per_image;
    }
    found_.advice = advise(situation);
  }

  ExaminationOptions options_;
  PackedImages images_;
  const ImageTotals totals_;
  std::unique_ptr<Subject> subject_;
  Examination found_;
};

}  // namespace

Examination examine(const ExaminationOptions& options) {
  return Examiner(options).run();
}

}  // namespace imgpack::measure
