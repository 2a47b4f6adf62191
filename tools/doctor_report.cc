#include "tools/doctor_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "tools/errors.h"
#include "tools/text.h"
#include "tools/text_table.h"

namespace imgpack::tools {

namespace {

using measure::Examination;
using measure::StageFigure;
using measure::Summary;

constexpr double kNoisy = 0.15;

std::string rate(double images_per_second) {
  return count_text(static_cast<std::uint64_t>(images_per_second + 0.5));
}

std::string quartiles(const Summary& rates) {
  return rates.count < 2 ? "" : fmt::format("{} - {}", rate(rates.lower), rate(rates.upper));
}

bool passes(const Examination& examination, const StageFigure& figure) {
  return std::any_of(examination.situation.stages.begin(), examination.situation.stages.end(),
                     [&](const StageFigure& stage) { return stage.stage == figure.stage; });
}

std::string remark(const Examination& examination, const StageFigure& figure) {
  if (!figure.reason.empty()) return printable(figure.reason);
  if (figure.stage == measure::Stage::disk && !passes(examination, figure)) {
    return "does not count: the page cache has room for the dataset";
  }
  return {};
}

std::string stages_text(const DoctorReport& report) {
  const Examination& examination = report.examination;
  TextTable table({"stage", ">images/s", "quartiles", ">MB/s", ">threads", ""});
  for (const StageFigure& figure : examination.stages) {
    const double megabytes = figure.rates.median * figure.bytes_per_image * 1e-6;
    table.add({std::string(to_string(figure.stage)), figure.measured() ? rate(figure.rates.median) : "-",
               quartiles(figure.rates), megabytes > 0 ? fmt::format("{:.0f}", megabytes) : "",
               figure.threads == 0 || !figure.measured() ? "" : std::to_string(figure.threads),
               remark(examination, figure)});
  }
  if (examination.together.count != 0) {
    const std::string busy = report.step_seconds > 0 ? fmt::format("the consumer worked {:.0f} % of the time",
                                                                   examination.consumer_busy * 100)
                                                     : "";
    table.add({"together", rate(examination.together.median), quartiles(examination.together), "", "", busy});
  }
  return table.text();
}

std::string sweep_text(const Examination& examination) {
  if (examination.sweep.empty()) return {};
  std::string text = "\nthreads that decode:";
  for (const StageFigure& figure : examination.sweep) {
    text += fmt::format(" {} -> {},", figure.threads, rate(figure.rates.median));
  }
  text.back() = ';';
  return text +
         fmt::format(" {} {} enough\n", examination.threads_enough, examination.threads_enough == 1 ? "is" : "are");
}

std::string variants_text(const Examination& examination) {
  if (examination.variants.empty()) return {};
  TextTable table({"a part of it, packed as", ">images/s", "quartiles", ">KB an image", "options of convert"});
  for (const measure::VariantFigure& variant : examination.variants) {
    const bool measured = variant.rates.count != 0;
    table.add({variant.name, measured ? rate(variant.rates.median) : "-", quartiles(variant.rates),
               measured ? fmt::format("{:.0f}", variant.bytes_per_image * 1e-3) : "",
               measured ? variant.options : printable(variant.reason)});
  }
  return "\n" + table.text();
}

std::string noise_text(const DoctorReport& report) {
  double worst = 0;
  for (const StageFigure& stage : report.examination.situation.stages) worst = std::max(worst, stage.rates.spread());
  std::string text;
  if (worst > kNoisy) {
    text += fmt::format(
        "The middle half of the runs spreads by up to {:.0f} %: more --rounds or a quieter machine tell more.\n",
        worst * 100);
  }
  if (report.load > 0.5 * report.cpus) {
    text += fmt::format("Other programs were at work (load {:.1f} on {} CPUs): figures may be too low.\n", report.load,
                        report.cpus);
  }
  return text;
}

Json summary_json(const Summary& rates) {
  if (rates.count == 0) return nullptr;
  return {{"median", rates.median},
          {"lower_quartile", rates.lower},
          {"upper_quartile", rates.upper},
          {"runs", rates.count}};
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(json_text(text));
}

Json stage_json(const Examination& examination, const StageFigure& figure) {
  return {{"stage", to_string(figure.stage)},
          {"passed", passes(examination, figure)},
          {"images_per_second", summary_json(figure.rates)},
          {"bytes_per_image", figure.bytes_per_image},
          {"threads", figure.threads},
          {"reason", text_or_null(figure.reason)}};
}

Json remedy_json(const measure::Remedy& remedy) {
  return {{"what", remedy.what}, {"command", json_text(remedy.command)}, {"images_per_second", remedy.rate}};
}

Json verdict_json(const measure::Advice& advice) {
  Json json = {{"bound", nullptr},
               {"clear", advice.diagnosis.clear()},
               {"as_close", Json::array()},
               {"images_per_second", advice.diagnosis.rate},
               {"sentence", json_text(advice.sentence)},
               {"command", text_or_null(advice.command)},
               {"remedies", Json::array()}};
  if (advice.diagnosis.bound) json["bound"] = to_string(*advice.diagnosis.bound);
  for (const measure::Stage stage : advice.diagnosis.as_close) json["as_close"].push_back(to_string(stage));
  for (const measure::Remedy& remedy : advice.remedies) json["remedies"].push_back(remedy_json(remedy));
  return json;
}

Json variants_json(const Examination& examination) {
  Json json = Json::array();
  for (const measure::VariantFigure& variant : examination.variants) {
    json.push_back({{"name", variant.name},
                    {"options", variant.options},
                    {"images_per_second", summary_json(variant.rates)},
                    {"bytes_per_image", variant.bytes_per_image},
                    {"reason", text_or_null(variant.reason)}});
  }
  return json;
}

}  // namespace

std::string doctor_text(const DoctorReport& report) {
  const Examination& examination = report.examination;
  std::string text = fmt::format("{}: {}, {} on {}; {} of memory free, {} CPUs, batches of {} on {}\n\n",
                                 printable(examination.dataset), count_of(examination.images, "image", "images"),
                                 size_text(static_cast<double>(examination.payload_bytes)), examination.storage.text(),
                                 size_text(static_cast<double>(examination.memory_available)), report.cpus,
                                 report.batch_size, report.device);
  text += stages_text(report);
  text += sweep_text(examination) + variants_text(examination);
  text += fmt::format("\n{}\n", printable(examination.advice.sentence));
  if (!examination.advice.command.empty()) text += fmt::format("  {}\n", printable(examination.advice.command));
  if (report.target) {
    text += printable(report.target->sentence) + "\n";
    if (report.target->remedy) text += fmt::format("  {}\n", printable(report.target->remedy->command));
  }
  return text + noise_text(report);
}

Json doctor_json(const DoctorReport& report) {
  const Examination& examination = report.examination;
  Json stages = Json::array();
  for (const StageFigure& figure : examination.stages) stages.push_back(stage_json(examination, figure));
  Json sweep = Json::array();
  for (const StageFigure& figure : examination.sweep) {
    sweep.push_back({{"threads", figure.threads}, {"images_per_second", summary_json(figure.rates)}});
  }
  Json target = nullptr;
  if (report.target) {
    target = {{"images_per_second", report.target->wanted},
              {"reached", report.target->reached},
              {"remedy", report.target->remedy ? remedy_json(*report.target->remedy) : Json(nullptr)},
              {"sentence", json_text(report.target->sentence)}};
  }
  return {{"file", json_text(examination.dataset)},
          {"images", examination.images},
          {"payload_bytes", examination.payload_bytes},
          {"storage", json_text(examination.storage.text())},
          {"memory_available", examination.memory_available},
          {"disk_counts", examination.disk_counts},
          {"cpu", json_text(report.cpu)},
          {"cpus", report.cpus},
          {"load", report.load},
          {"batch_size", report.batch_size},
          {"device", json_text(report.device)},
          {"step_ms", report.step_seconds * 1e3},
          {"rounds", report.rounds},
          {"stages", stages},
          {"together",
           {{"images_per_second", summary_json(examination.together)}, {"consumer_busy", examination.consumer_busy}}},
          {"threads", {{"sweep", sweep}, {"enough", examination.threads_enough}}},
          {"variants", variants_json(examination)},
          {"variants_reason", text_or_null(examination.variants_reason)},
          {"verdict", verdict_json(examination.advice)},
          {"target", target}};
}

}  // namespace imgpack::tools
