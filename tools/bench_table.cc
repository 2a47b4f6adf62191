// bench's results as tables for people.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "tools/bench_report.h"
#include "tools/text.h"
#include "tools/text_table.h"

namespace imgpack::tools {

using measure::Row;

namespace {

/// Below it, quartiles say little about how results would spread.
constexpr std::size_t kFewRounds = 5;
/// Processes that run besides: more than this share of one CPU is felt.
constexpr double kQuietLoad = 0.5;

std::string machine_text(const BenchReport& report) {
  const BenchMachine& machine = report.machine;
  std::string text = count_of(machine.cpus, "CPU", "CPUs");
  if (!machine.cpu.empty()) text += fmt::format(" ({})", printable(machine.cpu));
  if (machine.load_before >= 0) text += fmt::format(", load {:.2f} before", machine.load_before);
  if (machine.load_after >= 0) text += fmt::format(" and {:.2f} after", machine.load_after);
  for (const std::string& gpu : machine.gpus) text += ", " + printable(gpu);
  return text + "\n";
}

std::string runs_text(const BenchReport& report) {
  const measure::ComparisonOptions& options = report.options;
  const std::string order = options.rounds > 1 && report.subjects.size() > 1 ? ", files in turns" : "";
  return fmt::format("{} of {} s{}; {}\n", count_of(options.rounds, "round", "rounds"), options.run.seconds, order,
                     options.cold ? "cold: files are evicted before each run, which reads each image once at most"
                                  : "warm: the page cache as it is, after a warm-up");
}

std::string batches_text(const BenchReport& report) {
  const measure::MeasureOptions& run = report.options.run;
  std::vector<std::string> steps;
  for (const Augmentation& step : run.transform) steps.push_back(to_string(step));
  return fmt::format("batches of {}, {}, {} {}: {}\n", run.batch_size, count_of(run.threads, "thread", "threads"),
                     to_string(run.dtype), to_string(run.layout),
                     steps.empty() ? "images as they are" : fmt::format("{}", fmt::join(steps, ", ")));
}

std::string speed_text(const BenchReport& report, const Row& row) {
  const std::optional<double> speed = report.speed_of(row);
  if (!speed) return "-";
  return fmt::format("{}{}x", report.speed_is_clear(row) ? "" : "~", rate_number(*speed));
}

std::string quartiles_text(const measure::Summary& rates) {
  return fmt::format("{} - {}", rate_number(rates.lower), rate_number(rates.upper));
}

std::string spread_text(const measure::Summary& rates) {
  return fmt::format("{:.0f} %{}", 100 * rates.spread(), is_noisy(rates) ? " *" : "");
}

/// "0 B -> 43.5 MB of 43.5 MB"; empty if not cold.
std::string residency_text(const Row& row) {
  const std::optional<measure::Eviction> eviction = row.worst_eviction();
  if (!eviction || !row.measured() || !row.typical().resident_after) return {};
  const auto size = [](std::uint64_t bytes) { return size_text(static_cast<double>(bytes)); };
  return fmt::format("{} -> {} of {}", size(eviction->after.resident_bytes),
                     size(row.typical().resident_after->resident_bytes), size(eviction->after.total_bytes));
}

void add_line(TextTable& table, const BenchReport& report, const Row& row) {
  const BenchSubject& subject = report.subject_of(row);
  std::vector<std::string> cells = {std::string(to_string(row.measure)), printable(subject.label), subject.kind};
  if (row.measured()) {
    const measure::Summary rates = row.rates();
    cells.insert(cells.end(), {rate_number(rates.median), std::string(unit_of(row.measure)), quartiles_text(rates),
                               spread_text(rates), fmt::format("{:.1f}", row.byte_rates().median / 1e6),
                               rate_number(row.cpu_costs().median * 1e6)});
  } else {
    cells.insert(cells.end(), {"-", "", "", "", "", ""});
  }
  cells.insert(cells.end(),
               {speed_text(report, row), std::string(to_string(subject.storage.kind)), residency_text(row)});
  table.add(std::move(cells));
}

std::string rates_table(const BenchReport& report) {
  TextTable table({"measure", "file", "kind", ">median", "unit", ">quartiles", ">spread", ">MB/s", ">CPU us", ">speed",
                   "disk", "in memory before -> after"});
  for (const Row& row : report.rows) add_line(table, report, row);
  return table.text();
}

std::string loading_table(const BenchReport& report) {
  TextTable table({"measure", "file", "Dataloader", "Disk", "GPU", ">Batch size", ">Time(s)", ">Steps", ">Samples/s",
                   ">Speed", ">GPU Efficiency"});
  for (const Row& row : report.rows) {
    if (!is_loading(row.measure) || !row.measured()) continue;
    const BenchSubject& subject = report.subject_of(row);
    const measure::MeasureRun& run = row.typical().run;
    const std::optional<double> efficiency = report.gpu_efficiency_of(row);
    table.add({std::string(to_string(row.measure)), printable(subject.label), subject.dataloader,
               std::string(to_string(subject.storage.kind)), report.gpu_of(row),
               std::to_string(report.options.run.batch_size), fmt::format("{:.2f}", run.seconds),
               std::to_string(run.steps), rate_number(row.rates().median), speed_text(report, row),
               efficiency ? fmt::format("{:.1f} %", 100 * *efficiency) : ""});
  }
  return table.text();
}

/// Each once: many rows may have the same.
std::string row_notes(const BenchReport& report) {
  std::string text;
  std::set<std::string> said;
  for (const Row& row : report.rows) {
    const std::string note = report.note_of(row);
    if (note.empty()) continue;
    const bool of_row = !row.reason.empty() || row.failure;
    const std::string line = fmt::format("{}{}: {}\n", of_row ? std::string(to_string(row.measure)) + " of " : "",
                                         printable(report.subject_of(row).label), printable(note));
    if (said.insert(line).second) text += line;
  }
  return text;
}

std::string warm_notes(const BenchReport& report) {
  std::string text;
  for (const BenchSubject& subject : report.subjects) {
    if (report.options.cold || !subject.resident_before || *subject.resident_before == subject.bytes) continue;
    text += fmt::format(
        "{}: {} of its bytes were in memory at the beginning; what was read from disk meanwhile is "
        "part of the figures\n",
        printable(subject.label), percent_text(*subject.resident_before, subject.bytes));
  }
  return text;
}

std::string noise_notes(const BenchReport& report) {
  const auto measured_and = [&](auto condition) {
    return std::ranges::any_of(report.rows, [&](const Row& row) { return row.measured() && condition(row); });
  };
  std::string text;
  if (measured_and([](const Row& row) { return is_noisy(row.rates()); })) {
    text +=
        "*: the quartiles lie more than 10 % of the median apart; more --rounds, longer --seconds or a quieter "
        "machine would tell more\n";
  }
  if (measured_and([&](const Row& row) { return report.speed_of(row) && !report.speed_is_clear(row); })) {
    text += "~: no clear difference to the baseline: the quartiles overlap, or there are too few rounds\n";
  }
  if (report.options.rounds < kFewRounds) {
    text +=
        fmt::format("{} {} little about how results spread: take differences of some percent for noise\n",
                    count_of(report.options.rounds, "round", "rounds"), report.options.rounds == 1 ? "tells" : "tell");
  }
  if (report.machine.load_before > kQuietLoad) {
    text += fmt::format("others were using this machine when the measurement began: load {:.2f} on {}\n",
                        report.machine.load_before, count_of(report.machine.cpus, "CPU", "CPUs"));
  }
  return text;
}

}  // namespace

std::string bench_table(const BenchReport& report) {
  const bool loading = std::ranges::any_of(report.rows, [](const Row& row) { return is_loading(row.measure); });
  std::string text = machine_text(report) + runs_text(report);
  if (loading) text += batches_text(report);
  for (const BenchSubject& subject : report.subjects) {
    text += fmt::format("{}: {}, {}, {}, on {}\n", printable(subject.label), subject.kind,
                        count_of(subject.images, "image", "images"), size_text(static_cast<double>(subject.bytes)),
                        printable(subject.storage.text()));
  }
  text += "\n" + rates_table(report);
  if (std::ranges::any_of(report.rows, [](const Row& row) { return is_loading(row.measure) && row.measured(); })) {
    text += "\n" + loading_table(report);
  }
  const std::string notes = row_notes(report) + warm_notes(report) + noise_notes(report);
  text += fmt::format("\nspeed: relative to {}; CPU us: microseconds of processor time a sample; {} in all\n",
                      printable(report.subjects[report.baseline].label), duration_text(report.seconds));
  return text + notes;
}

}  // namespace imgpack::tools
