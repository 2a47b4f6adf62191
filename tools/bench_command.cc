// imgpack bench FILE...
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "imgpack/error.h"
#include "measure/cold_cache.h"
#include "measure/machine.h"
#include "mmap/cpu_budget.h"
#include "tools/bench_options.h"
#include "tools/bench_report.h"
#include "tools/errors.h"
#include "tools/interrupt.h"
#include "tools/output_file.h"
#include "tools/progress.h"
#include "tools/session.h"
#include "tools/text.h"

namespace imgpack::tools {

namespace {

namespace fs = std::filesystem;

/// To ask about more files than this would take long, and tell little.
constexpr std::size_t kMostFilesLookedAt = 20'000;

bool is_html(const std::string& name) {
  return fs::path(name).extension() == ".html";
}

/// Whatever would make the results of a long measurement useless is found before it.
void check_outputs(const Session& session, const BenchOptions& options) {
  if (!options.plot.empty()) {
    if (!is_html(options.plot) && fs::path(options.plot).extension() != ".svg") {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--plot {}: its name must end in .svg or .html", options.plot));
    }
    check_output(options.plot, options.overwrite);
  }
  if (options.csv == "-" && session.json) {
    throw Error(ErrorCode::invalid_argument, "--json and --csv - both want standard output");
  }
  if (!options.csv.empty() && options.csv != "-") check_output(options.csv, options.overwrite);
}

BenchSubject describe(const measure::Subject& subject, std::string label) {
  BenchSubject result{.file = subject.name(),
                      .label = std::move(label),
                      .kind = subject.kind(),
                      .dataloader = subject.dataloader(),
                      .storage = subject.storage(),
                      .images = subject.size(),
                      .bytes = 0,
                      .resident_before = {}};
  for (const fs::path& file : subject.files()) result.bytes += fs::file_size(file);
  if (subject.files().size() <= kMostFilesLookedAt) {
    result.resident_before = measure::residency_of(subject.files()).resident_bytes;
  }
  return result;
}

BenchReport measure_all(Session& session, const BenchOptions& options) {
  BenchReport report;
  report.options = to_comparison_options(options);
  report.baseline = baseline_number(options);
  report.split = options.split;
  std::vector<std::unique_ptr<measure::Subject>> subjects;
  const std::vector<std::string> labels = short_labels(options.files);
  for (std::size_t i = 0; i < options.files.size(); ++i) {
    subjects.push_back(measure::open_subject(options.files[i], options.split));
    report.subjects.push_back(describe(*subjects.back(), labels[i]));
    stop_if_interrupted();
  }
  report.machine = {.cpu = measure::cpu_model(),
                    .cpus = cpu_budget(),
                    .gpus = measure::gpu_models(),
                    .load_before = measure::load_average(),
                    .load_after = -1};
  Progress progress(session);
  report.options.run.stop = [] { return interrupted_by() != 0; };
  report.options.progress = [&progress](measure::Measure, const measure::Subject&, std::size_t done,
                                        std::size_t total) { progress.update("measuring", done, total, 0); };
  const auto start = std::chrono::steady_clock::now();
  report.rows = measure::compare(subjects, report.options);
  stop_if_interrupted();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.machine.load_after = measure::load_average();
  return report;
}

void write_text(const std::string& path, const std::string& text, bool overwrite) {
  write_output(path, std::as_bytes(std::span(text)), overwrite);
}

void write_outputs(const BenchReport& report, const BenchOptions& options) {
  if (!options.plot.empty()) {
    write_text(options.plot, is_html(options.plot) ? bench_html(report) : bench_svg(report), options.overwrite);
  }
  if (!options.csv.empty() && options.csv != "-") {
    write_text(options.csv, bench_csv(report), options.overwrite);
  }
}

/// What went wrong in rows; nullptr if nothing did.
struct Failures {
  std::size_t rows = 0;
  const Error* first = nullptr;
  int exit_code = kExitSuccess;
};

Failures failures_of(const BenchReport& report) {
  Failures failures;
  for (const measure::Row& row : report.rows) {
    if (!row.failure) continue;
    ++failures.rows;
    failures.exit_code = std::max(failures.exit_code, exit_code_of(row.failure->code()));
    if (failures.first == nullptr) failures.first = &*row.failure;
  }
  return failures;
}

void print_results(Session& session, const BenchReport& report, const BenchOptions& options, const Failures& failures) {
  if (session.json) {
    Json document = bench_json(report);
    if (failures.first != nullptr) document["error"] = error_json(*failures.first);
    session.console.print_json(document);
  } else if (options.csv == "-") {
    session.console.print(bench_csv(report));
  } else if (!session.quiet) {
    session.console.print(bench_table(report));
  }
  if (failures.first == nullptr) return;
  session.console.flush();
  session.console.note(fmt::format("imgpack: {} of {} could not be measured: {}\n", failures.rows,
                                   count_of(report.rows.size(), "row", "rows"), printable(failures.first->what())));
}

int run(Session& session, const BenchOptions& options) {
  check_outputs(session, options);
  catch_interrupts();
  const BenchReport report = measure_all(session, options);
  const Failures failures = failures_of(report);
  write_outputs(report, options);
  print_results(session, report, options, failures);
  return failures.exit_code;
}

}  // namespace

void add_bench(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("bench", "Compare how fast packed files and image folders are read and loaded");
  auto options = std::make_shared<BenchOptions>();
  add_bench_options(*command, *options);
  add_common_options(*command, session, true);
  command->callback([options, &session] {
    session.command = "bench";
    session.chosen = [options, &session] { return run(session, *options); };
  });
}

}  // namespace imgpack::tools
