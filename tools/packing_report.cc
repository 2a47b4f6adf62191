#include "tools/packing_report.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tools/errors.h"
#include "tools/progress.h"
#include "tools/text.h"

namespace imgpack::tools {

namespace {

Json report_json(const BuildReport& report, bool dry_run) {
  Json json = {{"dry_run", dry_run}, {"format", to_string(report.format)}, {"source_kind", report.source_kind}};
  json["outputs"] = Json::array();
  for (const std::filesystem::path& output : report.outputs) json["outputs"].push_back(json_text(output.string()));
  json["entries"] = report.entries;
  json["records"] = report.records;
  json["payload_bytes"] = report.payload_bytes;
  json["classes"] = report.classes;
  json["splits"] = splits_json(report.splits);
  json["resumed_entries"] = report.resumed_entries;
  json["refused_count"] = report.refused_count;
  json["ignored_count"] = report.ignored_count;
  json["left_out"] = left_out_json(report.left_out);
  json["decode_paths"] = decode_paths_json(report.decode_paths);
  json["warnings"] = Json::array();
  for (const std::string& warning : report.warnings) json["warnings"].push_back(json_text(warning));
  json["seconds"] = report.seconds;
  // What an interrupted build had done took time that is not known.
  const bool timed = report.resumed_entries == 0 && report.seconds > 0;
  const auto rate = [&](std::uint64_t amount) {
    return timed ? Json(static_cast<double>(amount) / report.seconds) : Json(nullptr);
  };
  json["images_per_second"] = rate(report.records);
  json["bytes_per_second"] = rate(report.payload_bytes);
  return json;
}

/// What would bring JPEG files without an index onto a GPU, of what has not been asked for yet.
std::string index_advice(const Transform& transform) {
  if (!transform.index) return ": --no-index asked for that";
  std::vector<std::string_view> advice;
  if (transform.encode != Encode::raw && transform.jpeg == JpegHandling::keep) {
    advice.push_back("--jpeg baseline rewrites progressive ones");
  }
  if (transform.encode == Encode::keep && !transform.normalize) {
    advice.push_back("--normalize stores pixels of all that can be decoded");
  }
  return advice.empty() ? "" : fmt::format(": {}", fmt::join(advice, ", "));
}

/// What is left to the CPU when a GPU loads the dataset, and what would change that.
void print_cpu_paths(Console& console, const DecodePaths& paths, const Transform& transform) {
  const auto print = [&](std::uint64_t count, std::string_view what, std::string_view advice) {
    if (count == 0) return;
    console.print(fmt::format("  {} {} on the CPU{}\n", count_of(count, "record", "records"), what, advice));
  };
  const bool may_normalize = transform.encode == Encode::keep && !transform.normalize;
  print(paths.whole_jpeg, "of JPEG without a segment index, decoded whole", index_advice(transform));
  print(paths.other, "of other image types, decoded", may_normalize ? ": --normalize stores their pixels" : "");
  print(paths.raw_zstd, "of compressed pixels, decompressed", ": without --zstd there is nothing to decompress");
}

std::string outputs_text(const BuildReport& report) {
  if (report.outputs.empty()) return "nothing";
  const std::string first = printable(report.outputs.front().string());
  if (report.outputs.size() == 1) return first;
  return fmt::format("{} files, {} to {}", report.outputs.size(), first,
                     printable(report.outputs.back().filename().string()));
}

void print_report(Console& console, const BuildReport& report, const BuildOptions& options) {
  const std::string classes = count_of(report.classes, "class", "classes");
  if (options.dry_run) {
    console.print(fmt::format("would pack {} in {} into {} ({})\n", count_of(report.entries, "image", "images"),
                              classes, outputs_text(report), to_string(report.format)));
  } else {
    console.print(fmt::format("{}: {} in {}, {} ({})\n", outputs_text(report),
                              count_of(report.records, "record", "records"), classes,
                              size_text(static_cast<double>(report.payload_bytes)), to_string(report.format)));
  }
  for (const Split& split : report.splits) {
    console.print(
        fmt::format("  {}: {}\n", printable(split.name), count_of(split.end - split.begin, "record", "records")));
  }
  if (!options.dry_run) {
    const std::string rate =
        report.resumed_entries == 0 ? rate_text(report.records, report.payload_bytes, report.seconds) : "";
    console.print(fmt::format("  {}{}{}\n", duration_text(report.seconds), rate.empty() ? "" : ", ", rate));
  }
  if (report.resumed_entries != 0) {
    console.print(fmt::format("  {} were there already, from the interrupted build\n",
                              count_of(report.resumed_entries, "entry", "entries")));
  }
  print_cpu_paths(console, report.decode_paths, options.transform.value_or(Transform()));
  if (report.ignored_count != 0) {
    console.print(fmt::format("  {} ignored: no images, and not named like any\n",
                              count_of(report.ignored_count, "file", "files")));
  }
  for (const std::string& warning : report.warnings) {
    console.print(fmt::format("  warning: {}\n", printable(warning)));
  }
  std::vector<LeftOut> refused;
  std::copy_if(report.left_out.begin(), report.left_out.end(), std::back_inserter(refused),
               [](const LeftOut& entry) { return !entry.ignored; });
  print_left_out(console, "left out", refused, report.refused_count);
}

}  // namespace

Json decode_paths_json(const DecodePaths& paths) {
  const double by_gpu = static_cast<double>(paths.indexed_jpeg + paths.raw);
  return {{"indexed_jpeg", paths.indexed_jpeg},
          {"raw", paths.raw},
          {"raw_zstd", paths.raw_zstd},
          {"whole_jpeg", paths.whole_jpeg},
          {"other", paths.other},
          {"gpu_share", ratio(by_gpu, static_cast<double>(paths.all()))}};
}

std::string decode_paths_text(const DecodePaths& paths) {
  std::string text = fmt::format("{} by a GPU alone", percent_text(paths.indexed_jpeg + paths.raw, paths.all()));
  const auto add = [&text](std::uint64_t count, std::string_view what) {
    if (count != 0) text += fmt::format("; {} {}", count_text(count), what);
  };
  add(paths.indexed_jpeg, "JPEG by segments");
  add(paths.raw, "pixels");
  add(paths.raw_zstd, "compressed pixels");
  add(paths.whole_jpeg, "JPEG without index");
  add(paths.other, "of other types");
  return text;
}

Json splits_json(const std::vector<Split>& splits) {
  Json json = Json::array();
  for (const Split& split : splits) {
    json.push_back({{"name", json_text(split.name)}, {"begin", split.begin}, {"end", split.end}});
  }
  return json;
}

Json left_out_json(const std::vector<LeftOut>& entries) {
  Json json = Json::array();
  for (const LeftOut& entry : entries) {
    json.push_back({{"key", json_text(entry.key)}, {"reason", json_text(entry.reason)}, {"ignored", entry.ignored}});
  }
  return json;
}

void print_more(Console& console, std::uint64_t count, std::uint64_t shown) {
  if (count > shown) console.print(fmt::format("  ... and {} more\n", count_text(count - shown)));
}

void print_left_out(Console& console, std::string_view lead, const std::vector<LeftOut>& entries, std::uint64_t count) {
  const std::size_t shown = std::min(entries.size(), kShownInText);
  for (std::size_t i = 0; i < shown; ++i) {
    console.print(fmt::format("  {} {}: {}\n", lead, printable(entries[i].key), printable(entries[i].reason)));
  }
  print_more(console, count, shown);
}

int run_packing(Session& session, const PackingOptions& options,
                const std::function<BuildReport(const BuildOptions&)>& pack) {
  BuildOptions build = to_build_options(options);
  BuildReport report;
  {
    Progress progress(session);
    build.progress = [&progress](const BuildProgress& state) { return show_build_progress(progress, state); };
    report = pack(build);
  }
  if (session.json) {
    session.console.print_json(report_json(report, build.dry_run));
  } else if (!session.quiet) {
    print_report(session.console, report, build);
  }
  return report.refused_count == 0 ? kExitSuccess : kExitDamaged;
}

}  // namespace imgpack::tools
