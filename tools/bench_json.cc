// bench's results as a JSON document.
#include "tools/bench_report.h"
#include "tools/errors.h"

namespace imgpack::tools {

using measure::Row;

namespace {

Json known(double value) {
  return value < 0 ? Json(nullptr) : Json(value);
}

template <class Value>
Json nullable(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json machine_json(const BenchMachine& machine) {
  Json gpus = Json::array();
  for (const std::string& gpu : machine.gpus) gpus.push_back(json_text(gpu));
  return {{"cpu", json_text(machine.cpu)},
          {"cpus", machine.cpus},
          {"gpus", gpus},
          {"load_before", known(machine.load_before)},
          {"load_after", known(machine.load_after)}};
}

Json options_json(const BenchReport& report) {
  const measure::ComparisonOptions& options = report.options;
  Json measures = Json::array();
  for (const measure::Measure item : options.measures) measures.push_back(to_string(item));
  Json transform = Json::array();
  for (const Augmentation& step : options.run.transform) transform.push_back(to_string(step));
  return {{"measures", measures},
          {"cold", options.cold},
          {"rounds", options.rounds},
          {"seconds", options.run.seconds},
          {"split", json_text(report.split)},
          {"batch_size", options.run.batch_size},
          {"threads", options.run.threads},
          {"device", options.run.device},
          {"step_ms", options.run.step_seconds * 1000},
          {"transform", transform},
          {"dtype", to_string(options.run.dtype)},
          {"layout", to_string(options.run.layout)}};
}

Json file_json(const BenchSubject& subject) {
  return {{"file", json_text(subject.file)},
          {"kind", subject.kind},
          {"images", subject.images},
          {"bytes", subject.bytes},
          {"storage",
           {{"kind", to_string(subject.storage.kind)},
            {"filesystem", subject.storage.filesystem},
            {"device", json_text(subject.storage.device)}}},
          {"resident_bytes", nullable(subject.resident_before)}};
}

Json rate_json(const Row& row) {
  const measure::Summary rates = row.rates();
  return {{"median", rates.median}, {"lower", rates.lower},     {"upper", rates.upper},  {"least", rates.least},
          {"most", rates.most},     {"spread", rates.spread()}, {"rounds", rates.count}, {"noisy", is_noisy(rates)}};
}

Json eviction_json(const Row& row) {
  const std::optional<measure::Eviction> worst = row.worst_eviction();
  if (!worst) return nullptr;
  return {{"complete", worst->complete()},
          {"resident_bytes", worst->after.resident_bytes},
          {"total_bytes", worst->after.total_bytes},
          {"obstacle", worst->obstacle.empty() ? Json(nullptr) : Json(json_text(worst->obstacle))}};
}

Json runs_json(const Row& row) {
  Json runs = Json::array();
  for (const measure::RowRun& item : row.runs) {
    Json json = {{"samples", item.run.samples},    {"bytes", item.run.bytes},
                 {"seconds", item.run.seconds},    {"cpu_seconds", item.run.cpu_seconds},
                 {"steps", item.run.steps},        {"work_seconds", item.run.work_seconds},
                 {"evicted_from_bytes", nullptr},  {"resident_before_bytes", nullptr},
                 {"resident_after_bytes", nullptr}};
    if (item.eviction) {
      json["evicted_from_bytes"] = item.eviction->before.resident_bytes;
      json["resident_before_bytes"] = item.eviction->after.resident_bytes;
    }
    if (item.resident_after) json["resident_after_bytes"] = item.resident_after->resident_bytes;
    runs.push_back(std::move(json));
  }
  return runs;
}

/// The columns of training-speed comparisons; null for measures that load nothing.
Json loading_json(const BenchReport& report, const Row& row) {
  if (!is_loading(row.measure)) return nullptr;
  const measure::MeasureRun* typical = row.measured() ? &row.typical().run : nullptr;
  return {{"Dataloader", report.subject_of(row).dataloader},
          {"Disk", to_string(report.subject_of(row).storage.kind)},
          {"GPU", report.gpu_of(row)},
          {"Batch size", report.options.run.batch_size},
          {"Time(s)", typical == nullptr ? Json(nullptr) : Json(typical->seconds)},
          {"Steps", typical == nullptr ? Json(nullptr) : Json(typical->steps)},
          {"Samples/s", typical == nullptr ? Json(nullptr) : Json(row.rates().median)},
          {"Speed", nullable(report.speed_of(row))},
          {"GPU Efficiency", nullable(report.gpu_efficiency_of(row))},
          {"transport", typical == nullptr || typical->transport.empty() ? Json(nullptr) : Json(typical->transport)}};
}

Json row_json(const BenchReport& report, const Row& row) {
  const std::optional<double> speed = report.speed_of(row);
  return {{"measure", to_string(row.measure)},
          {"file", json_text(report.subject_of(row).file)},
          {"measured", row.measured()},
          {"reason", row.reason.empty() ? Json(nullptr) : Json(json_text(row.reason))},
          {"error", row.failure ? error_json(*row.failure) : Json(nullptr)},
          {"unit", unit_of(row.measure)},
          {"rate", row.measured() ? rate_json(row) : Json(nullptr)},
          {"bytes_per_second", row.measured() ? Json(row.byte_rates().median) : Json(nullptr)},
          {"cpu_us_per_sample", row.measured() ? Json(row.cpu_costs().median * 1e6) : Json(nullptr)},
          {"speed", nullable(speed)},
          {"speed_is_clear", speed ? Json(report.speed_is_clear(row)) : Json(nullptr)},
          {"cold", eviction_json(row)},
          {"loading", loading_json(report, row)},
          {"runs", runs_json(row)}};
}

}  // namespace

Json bench_json(const BenchReport& report) {
  Json files = Json::array();
  for (const BenchSubject& subject : report.subjects) files.push_back(file_json(subject));
  Json rows = Json::array();
  for (const Row& row : report.rows) rows.push_back(row_json(report, row));
  return {{"machine", machine_json(report.machine)},
          {"options", options_json(report)},
          {"files", files},
          {"baseline", json_text(report.subjects[report.baseline].file)},
          {"rows", rows},
          {"seconds", report.seconds}};
}

}  // namespace imgpack::tools
