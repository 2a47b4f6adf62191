// imgpack verify FILE...
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "imgpack/error.h"
#include "imgpack/store.h"
#include "imgpack/verify.h"
#include "tools/errors.h"
#include "tools/interrupt.h"
#include "tools/packing_options.h"
#include "tools/packing_report.h"
#include "tools/progress.h"
#include "tools/session.h"
#include "tools/text.h"

namespace imgpack::tools {

namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::vector<std::string> files;
  std::string source;
  bool decode = false;
  std::uint64_t max_pixels = VerifyOptions().max_pixels;
  unsigned threads = 0;
};

/// What was found about one FILE.
struct Finding {
  std::string file;
  VerifyReport report;
  std::optional<SourceReport> source;
  std::optional<Error> error;  ///< what kept it from being checked
  double seconds = 0;

  bool good() const { return !error && report.damage_count == 0 && (!source || source->good()); }
  int exit_code() const {
    if (error) return exit_code_of(error->code());
    return good() ? kExitSuccess : kExitDamaged;
  }
};

VerifyOptions options_for(Progress& progress, std::string_view doing, unsigned threads) {
  VerifyOptions options;
  options.threads = threads;
  options.progress = [&progress, doing](std::uint64_t done, std::uint64_t total) {
    progress.update(doing, done, total, 0);
    return interrupted_by() == 0;
  };
  return options;
}

VerifyOptions decoding_options(Progress& progress, const Arguments& arguments) {
  VerifyOptions options = options_for(progress, "decoding", arguments.threads);
  options.max_pixels = arguments.max_pixels;
  return options;
}

/// For nameless files: not beside the data, which may lie on a read-only medium.
fs::path work_folder() {
  return fs::temp_directory_path();
}

Finding examine(Session& session, const std::string& file, const Arguments& arguments) {
  Finding finding{.file = file, .report = {}, .source = {}, .error = {}, .seconds = 0};
  const auto start = std::chrono::steady_clock::now();
  Progress progress(session);
  try {
    finding.report = verify(file, options_for(progress, "verifying", arguments.threads));
    // A damaged file may not even open; what is wrong with it is known already.
    if (arguments.decode && finding.report.damage_count == 0) {
      finding.report = verify_pixels(*open_store(file), decoding_options(progress, arguments));
    }
    if (!arguments.source.empty() && finding.report.damage_count == 0) {
      finding.source = verify_source(*open_store(file), arguments.source, work_folder(),
                                     options_for(progress, "comparing", arguments.threads));
    }
  } catch (const Error& error) {
    if (interrupted_by() != 0) throw;
    finding.error = error;
  }
  finding.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return finding;
}

Json damage_json(const std::vector<Damage>& items) {
  Json json = Json::array();
  for (const Damage& item : items) {
    Json entry = {
        {"file", json_text(item.file)}, {"record", nullptr}, {"offset", nullptr}, {"what", json_text(item.what)}};
    if (item.record) entry["record"] = *item.record;
    if (item.offset) entry["offset"] = *item.offset;
    json.push_back(std::move(entry));
  }
  return json;
}

Json source_json(const SourceReport& report, const std::string& source) {
  return {{"source", json_text(source)},
          {"good", report.good()},
          {"compared", report.compared},
          {"different_count", report.different_count},
          {"different", damage_json(report.different)},
          {"missing_count", report.missing_count},
          {"missing", left_out_json(report.missing)},
          {"extra_count", report.extra_count},
          {"extra", damage_json(report.extra)},
          {"left_out_count", report.left_out_count},
          {"left_out", left_out_json(report.left_out)}};
}

Json finding_json(const Finding& finding, const std::string& source) {
  Json json = {{"file", json_text(finding.file)}, {"good", finding.good()}};
  if (finding.error) {
    json["error"] = error_json(*finding.error);
    return json;
  }
  json["records"] = finding.report.records;
  json["payload_bytes"] = finding.report.payload_bytes;
  json["damage_count"] = finding.report.damage_count;
  json["damage"] = damage_json(finding.report.damage);
  if (!source.empty()) json["source"] = finding.source ? source_json(*finding.source, source) : Json(nullptr);
  json["seconds"] = finding.seconds;
  return json;
}

void print_damage(Console& console, std::string_view lead, const std::vector<Damage>& items, std::uint64_t count) {
  for (const Damage& item : items) {
    std::string line = fmt::format("  {}", lead);
    if (!item.file.empty()) line += fmt::format(" {}:", printable(item.file));
    if (item.record) line += fmt::format(" record {}:", *item.record);
    if (item.offset) line += fmt::format(" offset {}:", *item.offset);
    console.print(fmt::format("{} {}\n", line, printable(item.what)));
  }
  print_more(console, count, items.size());
}

void print_source(Console& console, const SourceReport& report, const std::string& source) {
  console.print(fmt::format("  {} equal their source {}; {} different, {} missing, {} not in the source\n",
                            count_of(report.compared, "record", "records"), printable(source),
                            count_text(report.different_count), count_text(report.missing_count),
                            count_text(report.extra_count)));
  print_damage(console, "different", report.different, report.different_count);
  print_left_out(console, "missing", report.missing, report.missing_count);
  print_damage(console, "not in the source", report.extra, report.extra_count);
  print_left_out(console, "left out, because it cannot be packed:", report.left_out, report.left_out_count);
}

void print_finding(Console& console, const Finding& finding, const std::string& source) {
  const std::string name = printable(finding.file);
  const std::string records = count_of(finding.report.records, "record", "records");
  if (finding.report.damage_count == 0) {
    const std::string rate = rate_text(finding.report.records, finding.report.payload_bytes, finding.seconds);
    console.print(fmt::format("{}: {}, {}; {}{}{}\n", name,
                              finding.good() ? "good" : "whole, but not what its source holds", records,
                              duration_text(finding.seconds), rate.empty() ? "" : ", ", rate));
  } else {
    console.print(fmt::format("{}: DAMAGED, {} in {} checked\n", name,
                              count_of(finding.report.damage_count, "finding", "findings"), records));
    print_damage(console, "damage", finding.report.damage, finding.report.damage_count);
    if (!source.empty()) console.print("  not compared with the source, because it is damaged\n");
  }
  if (finding.source) print_source(console, *finding.source, source);
}

int run(Session& session, const Arguments& arguments) {
  if (!arguments.source.empty() && arguments.files.size() > 1) {
    throw Error(ErrorCode::invalid_argument,
                "--source compares one dataset; name its shards by the name they were built under, by a quoted pattern "
                "or by a manifest");
  }
  catch_interrupts();
  int exit_code = kExitSuccess;
  Json files = Json::array();
  std::optional<Error> first_error;
  for (const std::string& file : arguments.files) {
    const Finding finding = examine(session, file, arguments);
    exit_code = std::max(exit_code, finding.exit_code());
    if (finding.error) {
      session.console.note(fmt::format("imgpack: {}\n", printable(finding.error->what())));
      if (!first_error) first_error = finding.error;
    }
    if (session.json) {
      files.push_back(finding_json(finding, arguments.source));
    } else if (!finding.error && (!session.quiet || !finding.good())) {
      print_finding(session.console, finding, arguments.source);
      session.console.flush();
    }
  }
  if (session.json) {
    Json document = {{"good", exit_code == kExitSuccess}, {"files", files}};
    if (first_error) document["error"] = error_json(*first_error);
    session.console.print_json(document);
  }
  return exit_code;
}

}  // namespace

void add_verify(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("verify", "Check every promise a packed file makes");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("FILE", arguments->files, "Packed files, manifests, quoted patterns, or names of shards")
      ->required()
      ->type_name("");
  command->add_option("--source", arguments->source, "Also compare every record with this folder, tar or manifest")
      ->type_name("SOURCE");
  command->add_flag("--decode", arguments->decode,
                    "Also decode every record, and compare segment indexes with their JPEGs");
  add_max_pixels_option(*command, arguments->max_pixels);
  add_threads_option(*command, arguments->threads);
  add_common_options(*command, session, true);
  command->callback([arguments, &session] {
    session.command = "verify";
    session.chosen = [arguments, &session] { return run(session, *arguments); };
  });
}

}  // namespace imgpack::tools
