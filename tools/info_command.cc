// imgpack info FILE
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "imgpack/store.h"
#include "tools/errors.h"
#include "tools/packing_report.h"
#include "tools/session.h"
#include "tools/text.h"

namespace imgpack::tools {

namespace {

constexpr std::size_t kClassesInText = 10;

struct Extent {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t most = 0;
  void add(std::uint64_t value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

/// What one pass over the index tells.
struct Overview {
  std::map<Codec, std::uint64_t> codecs;
  Extent width;
  Extent height;
  Extent bytes;
  std::uint64_t unlabelled = 0;
};

Overview look_over(const StoreReader& store) {
  Overview overview;
  for (std::uint64_t record = 0; record < store.size(); ++record) {
    const RecordMeta meta = store.meta(record);
    ++overview.codecs[meta.codec];
    overview.width.add(meta.width);
    overview.height.add(meta.height);
    overview.bytes.add(meta.payload_size);
    if (meta.label == kNoLabel) ++overview.unlabelled;
  }
  return overview;
}

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

Json classes_json(const std::vector<ClassInfo>& classes) {
  Json json = Json::array();
  for (const ClassInfo& item : classes) {
    json.push_back({{"name", json_text(item.name)}, {"words", json_text(item.words)}});
  }
  return json;
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
      {"unlabelled", overview.unlabelled},
      {"content_digest", info.content_digest == 0 ? Json(nullptr) : Json(fmt::format("{:016x}", info.content_digest))},
      {"classes", classes_json(info.classes)},
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
  print_classes(console, info, overview.unlabelled);
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
  const Overview overview = look_over(*store);
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
