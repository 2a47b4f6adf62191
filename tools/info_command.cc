// imgpack info FILE
#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "imgpack/store.h"
#include "tools/errors.h"
#include "tools/overview.h"
#include "tools/packing_report.h"
#include "tools/session.h"
#include "tools/text.h"

namespace imgpack::tools {

namespace {

constexpr std::size_t kClassesInText = 10;

/// Enough for shares to a percent or so, few enough to be quick on a cold disk.
constexpr std::uint64_t kJpegsLookedAt = 2000;

Json text_map_json(const std::map<std::string, std::string>& values) {
  Json json = Json::object();
  for (const auto& [key, value] : values) json[json_text(key)] = json_text(value);
  return json;
}

Json fields_json(const std::vector<FieldSpec>& fields) {
  Json json = Json::array();
  for (const FieldSpec& field : fields) {
    json.push_back({{"name", json_text(field.name)}, {"type", to_string(field.type)}, {"shape", field.shape}});
  }
  return json;
}

Json classes_json(const std::vector<ClassInfo>& classes, const Overview& overview) {
  Json json = Json::array();
  for (std::size_t i = 0; i < classes.size(); ++i) {
    json.push_back({{"name", json_text(classes[i].name)},
                    {"words", json_text(classes[i].words)},
                    {"records", overview.class_records[i]}});
  }
  return json;
}

Json shorter_side_json(const SideHistogram& histogram) {
  Json json = Json::array();
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    const bool last = i + 1 == histogram.counts.size();
    json.push_back({{"from", SideHistogram::kLimits[i]},
                    {"below", last ? Json(nullptr) : Json(SideHistogram::kLimits[i + 1])},
                    {"records", histogram.counts[i]}});
  }
  return json;
}

Json jpeg_kinds_json(const Overview& overview) {
  Json kinds = Json::object();
  for (const auto& [kind, count] : overview.jpeg_kinds) kinds[kind] = count;
  return {{"looked_at", overview.jpegs_looked_at}, {"kinds", kinds}};
}

Json extent_json(const Extent& extent, bool any) {
  return any ? Json{{"min", extent.least}, {"max", extent.most}} : Json(nullptr);
}

Json info_json(const StoreReader& store, const Overview& overview) {
  const DatasetInfo& info = store.info();
  const bool any = store.size() != 0;
  Json codecs = Json::object();
  for (const auto& [codec, count] : overview.codecs) codecs[std::string(to_string(codec))] = count;
  return {
      {"file", json_text(store.path().string())},
      {"format", to_string(store.format())},
      {"records", store.size()},
      {"payload_bytes", info.payload_bytes},
      {"pixels", info.pixels},
      {"codecs", codecs},
      {"width", extent_json(overview.width, any)},
      {"height", extent_json(overview.height, any)},
      {"record_bytes", extent_json(overview.bytes, any)},
      {"shorter_side", shorter_side_json(overview.shorter_side)},
      {"decode_paths", decode_paths_json(overview.paths)},
      {"jpeg_kinds", jpeg_kinds_json(overview)},
      {"unlabelled", overview.unlabelled},
      {"content_digest", info.content_digest == 0 ? Json(nullptr) : Json(fmt::format("{:016x}", info.content_digest))},
      {"classes", classes_json(info.classes, overview)},
      {"splits", splits_json(info.splits)},
      {"fields", fields_json(info.fields)},
      {"source_kind", json_text(info.source_kind)},
      {"source_name", json_text(info.source_name)},
      {"transform", text_map_json(info.transform)},
      {"tool_version", json_text(info.tool_version)},
      {"metadata", text_map_json(info.metadata)},
      {"left_out_count", info.left_out_count},
      {"ignored_count", info.ignored_count},
      {"left_out", left_out_json(info.left_out)}};
}

void print_line(Console& console, std::string_view name, std::string_view value) {
  console.print(fmt::format("  {:<10} {}\n", name, value));
}

void print_histograms(Console& console, const StoreReader& store, const Overview& overview) {
  if (store.size() == 0) return;
  std::string sides;
  for (std::size_t i = 0; i < overview.shorter_side.counts.size(); ++i) {
    const std::uint64_t count = overview.shorter_side.counts[i];
    if (count == 0) continue;
    sides += fmt::format("{}{}+ {}", sides.empty() ? "" : ", ", SideHistogram::kLimits[i],
                         percent_text(count, store.size()));
  }
  print_line(console, "sides", "shorter side " + sides);
  if (overview.jpegs_looked_at != 0) {
    std::string kinds;
    for (const auto& [kind, count] : overview.jpeg_kinds) {
      kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", kind, percent_text(count, overview.jpegs_looked_at));
    }
    print_line(console, "JPEGs", fmt::format("{} (of {} looked at)", kinds, count_text(overview.jpegs_looked_at)));
  }
  print_line(console, "decoding", decode_paths_text(overview.paths));
}

void print_class_sizes(Console& console, const Overview& overview) {
  if (overview.class_records.empty()) return;
  std::vector<std::uint64_t> sizes = overview.class_records;
  std::ranges::sort(sizes);
  print_line(console, "per class",
             fmt::format("{} to {} records, median {}", count_text(sizes.front()), count_text(sizes.back()),
                         count_text(sizes[sizes.size() / 2])));
}

void print_classes(Console& console, const DatasetInfo& info, std::uint64_t unlabelled) {
  std::string line = count_text(info.classes.size());
  const std::size_t shown = std::min(info.classes.size(), kClassesInText);
  for (std::size_t i = 0; i < shown; ++i) {
    const ClassInfo& item = info.classes[i];
    line += i == 0 ? ": " : ", ";
    line += printable(item.name);
    if (!item.words.empty()) line += fmt::format(" ({})", printable(item.words));
  }
  if (info.classes.size() > shown) line += ", ...";
  print_line(console, "classes", line);
  if (unlabelled != 0) print_line(console, "unlabelled", count_of(unlabelled, "record", "records"));
}

void print_images(Console& console, const StoreReader& store, const Overview& overview) {
  if (store.size() == 0) return;
  std::string codecs;
  for (const auto& [codec, count] : overview.codecs) {
    codecs += fmt::format("{}{} {}", codecs.empty() ? "" : ", ", count_text(count), to_string(codec));
  }
  print_line(console, "images", codecs);
  print_line(console, "pixels",
             fmt::format("{}; widths {} to {}, heights {} to {}", count_text(store.info().pixels), overview.width.least,
                         overview.width.most, overview.height.least, overview.height.most));
  print_line(
      console, "sizes",
      fmt::format("{} to {}, {} on average", size_text(static_cast<double>(overview.bytes.least)),
                  size_text(static_cast<double>(overview.bytes.most)),
                  size_text(static_cast<double>(store.info().payload_bytes) / static_cast<double>(store.size()))));
}

void print_info(Console& console, const StoreReader& store, const Overview& overview) {
  const DatasetInfo& info = store.info();
  console.print(fmt::format("{}: {}, {}, {} of images\n", printable(store.path().string()), to_string(store.format()),
                            count_of(store.size(), "record", "records"),
                            size_text(static_cast<double>(info.payload_bytes))));
  print_images(console, store, overview);
  print_histograms(console, store, overview);
  print_classes(console, info, overview.unlabelled);
  print_class_sizes(console, overview);
  for (const Split& split : info.splits) {
    print_line(console, "split",
               fmt::format("{}: {}, {} to {}", printable(split.name),
                           count_of(split.end - split.begin, "record", "records"), split.begin, split.end));
  }
  for (const FieldSpec& field : info.fields) {
    print_line(console, "field",
               fmt::format("{}: {} [{}]", printable(field.name), to_string(field.type), fmt::join(field.shape, ", ")));
  }
  print_line(console, "source", fmt::format("{} ({})", printable(info.source_name), printable(info.source_kind)));
  for (const auto& [key, value] : info.transform) {
    print_line(console, "transform", fmt::format("{} = {}", printable(key), printable(value)));
  }
  for (const auto& [key, value] : info.metadata) {
    print_line(console, "metadata", fmt::format("{} = {}", printable(key), printable(value)));
  }
  print_line(console, "made by", "imgpack " + printable(info.tool_version));
  if (info.left_out_count != 0) {
    print_line(console, "left out",
               fmt::format("{} refused, {} ignored", info.left_out_count - info.ignored_count, info.ignored_count));
    print_left_out(console, "-", info.left_out, info.left_out_count);
  }
}

int run(Session& session, const std::string& file) {
  const std::unique_ptr<StoreReader> store = open_store(file);
  const Overview overview = look_over(*store, kJpegsLookedAt);
  if (session.json) {
    session.console.print_json(info_json(*store, overview));
  } else if (!session.quiet) {
    print_info(session.console, *store, overview);
  }
  return kExitSuccess;
}

}  // namespace

void add_info(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("info", "What is in a packed file, and how it was made");
  auto file = std::make_shared<std::string>();
  command->add_option("FILE", *file, "Packed file, manifest, quoted pattern, or name of shards")
      ->required()
      ->type_name("");
  add_common_options(*command, session, false);
  command->callback([file, &session] {
    session.command = "info";
    session.chosen = [file, &session] { return run(session, *file); };
  });
}

}  // namespace imgpack::tools
