// A report without any measuring, for tests of what is made of it.
#pragma once

#include <utility>

#include "tools/bench_report.h"

namespace imgpack::tools {

inline measure::Row row_with_rates(measure::Measure measure, std::size_t subject, std::vector<double> rates) {
  measure::Row row;
  row.measure = measure;
  row.subject = subject;
  for (const double rate : rates) {
    measure::RowRun run;
    run.run.samples = static_cast<std::uint64_t>(rate * 2);
    run.run.bytes = run.run.samples * 100;
    run.run.seconds = 2;
    run.run.cpu_seconds = 1;
    run.run.steps = 3;
    run.run.work_seconds = measure == measure::Measure::train ? 1.5 : 0;
    row.runs.push_back(run);
  }
  return row;
}

/// Two subjects, of which the second has a difficult name and is the baseline; random is measured of both and train of
/// the first, gpu of neither.
inline BenchReport sample_report() {
  BenchReport report;
  report.machine = {.cpu = "Some CPU", .cpus = 4, .gpus = {"NVIDIA A"}, .load_before = 0.25, .load_after = 1.5};
  report.subjects = {{.file = "x/a.rec",
                      .label = "a.rec",
                      .kind = "rec",
                      .dataloader = "imgpack (rec)",
                      .storage = {.kind = measure::StorageKind::nvme, .filesystem = "xfs", .device = "nvme0n1"},
                      .images = 10,
                      .bytes = 1000,
                      .resident_before = 1000},
                     {.file = "y/b, \"<c>\" & 'd'",
                      .label = "b, \"<c>\" & 'd'",
                      .kind = "folder",
                      .dataloader = "loose files (thread pool)",
                      .storage = {.kind = measure::StorageKind::hdd, .filesystem = "ext4", .device = "sda"},
                      .images = 10,
                      .bytes = 1000,
                      .resident_before = 250}};
  report.baseline = 1;
  report.options.measures = {measure::Measure::random, measure::Measure::gpu, measure::Measure::train};
  report.options.run.step_seconds = 0.01;
  report.options.run.device = "cuda";
  report.options.run.threads = 4;
  report.rows = {row_with_rates(measure::Measure::random, 0, {200, 300, 210, 220, 205}),
                 row_with_rates(measure::Measure::random, 1, {100, 101, 102, 103, 104}),
                 row_with_rates(measure::Measure::gpu, 0, {}),
                 row_with_rates(measure::Measure::gpu, 1, {}),
                 row_with_rates(measure::Measure::train, 0, {50, 51, 52, 53, 54}),
                 row_with_rates(measure::Measure::train, 1, {})};
  report.rows[2].failure = Error(ErrorCode::unsupported, "no GPU, \"here\"");
  report.rows[3].reason = "loose files are loaded into host memory only";
  report.rows[5].reason = report.rows[3].reason;
  report.seconds = 12.5;
  return report;
}

/// With an eviction that has left 40 of 1000 bytes in the last run of the first row, and has worked elsewhere.
inline BenchReport cold_report() {
  BenchReport report = sample_report();
  report.options.cold = true;
  for (measure::Row& row : report.rows) {
    for (measure::RowRun& run : row.runs) {
      run.eviction = measure::Eviction{.before = {900, 1000}, .after = {0, 1000}, .obstacle = {}};
      run.resident_after = Residency{800, 1000};
    }
  }
  report.rows[0].runs.back().eviction->after.resident_bytes = 40;
  report.rows[0].runs.back().eviction->obstacle = "somebody has it mapped";
  return report;
}

}  // namespace imgpack::tools
