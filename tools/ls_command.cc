// imgpack ls FILE
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "imgpack/error.h"
#include "imgpack/store.h"
#include "tools/errors.h"
#include "tools/field_json.h"
#include "tools/selection.h"
#include "tools/session.h"
#include "tools/text.h"

namespace imgpack::tools {

namespace {

struct Arguments {
  std::string file;
  Selection selection;
  bool long_form = false;
};

/// What a record belongs to, as text.
struct Belonging {
  std::string split;       ///< empty: none
  std::string class_name;  ///< empty: none, or it has no name
};

Belonging belonging_of(const StoreReader& store, const RecordMeta& meta, std::uint64_t record, SplitFinder& splits) {
  Belonging belonging;
  if (const Split* split = splits.find(record)) belonging.split = split->name;
  const std::vector<ClassInfo>& classes = store.info().classes;
  if (meta.label >= 0 && static_cast<std::uint64_t>(meta.label) < classes.size()) {
    belonging.class_name = classes[static_cast<std::size_t>(meta.label)].name;
  }
  return belonging;
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(json_text(text));
}

Json record_json(const StoreReader& store, std::uint64_t record, SplitFinder& splits) {
  const RecordMeta meta = store.meta(record);
  const Belonging belonging = belonging_of(store, meta, record, splits);
  Json json = {{"record", record},
               {"key", json_text(store.key(record))},
               {"split", text_or_null(belonging.split)},
               {"label", meta.label},
               {"class", text_or_null(belonging.class_name)},
               {"width", meta.width},
               {"height", meta.height},
               {"channels", meta.channels},
               {"codec", to_string(meta.codec)},
               {"payload_bytes", meta.payload_size},
               {"checksum", fmt::format("{:016x}", meta.checksum)}};
  const std::vector<FieldSpec>& fields = store.info().fields;
  if (fields.empty()) return json;
  Json values = Json::object();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    values[json_text(fields[i].name)] = field_value_json(fields[i], store.field(record, i));
  }
  json["fields"] = std::move(values);
  return json;
}

/// The document is written record by record, so that it may have any size. A failure on the way still ends it as valid
/// JSON, with the error in it.
int list_as_json(Session& session, const StoreReader& store, const Arguments& arguments) {
  Console& console = session.console;
  SplitFinder splits(store.info().splits);
  std::optional<Error> failure;
  std::uint64_t listed = 0;
  const Json file = json_text(store.path().string());
  const auto begin = [&] { console.print(fmt::format("{{\n\"file\": {},\n\"records\": [", file.dump())); };
  try {
    for_each_selected(store, arguments.selection, [&](std::uint64_t record) {
      const std::string line = record_json(store, record, splits).dump(-1, ' ', false, Json::error_handler_t::replace);
      if (listed == 0) begin();
      console.print(listed == 0 ? "\n" : ",\n");
      console.print(line);
      ++listed;
      return true;
    });
  } catch (const Error& error) {
    if (listed == 0 || error.place().file == "standard output") throw;
    failure = error;
  }
  if (listed == 0) begin();
  console.print("\n]");
  if (failure) {
    console.print(fmt::format(",\n\"error\": {}", error_json(*failure).dump()));
    console.note(fmt::format("imgpack: {}\n", printable(failure->what())));
  }
  console.print("\n}\n");
  return failure ? exit_code_of(failure->code()) : kExitSuccess;
}

int list_as_text(Session& session, const StoreReader& store, const Arguments& arguments) {
  SplitFinder splits(store.info().splits);
  for_each_selected(store, arguments.selection, [&](std::uint64_t record) {
    const std::string key = printable(store.key(record));
    if (!arguments.long_form) {
      session.console.print(key + "\n");
      return true;
    }
    const RecordMeta meta = store.meta(record);
    const Belonging belonging = belonging_of(store, meta, record, splits);
    session.console.print(fmt::format("{:>9} {:>6} {:>5} {:<12} {:>11} {:<5} {:>10} {}\n", record,
                                      belonging.split.empty() ? "-" : printable(belonging.split), meta.label,
                                      belonging.class_name.empty() ? "-" : printable(belonging.class_name),
                                      fmt::format("{}x{}x{}", meta.width, meta.height, meta.channels),
                                      to_string(meta.codec), meta.payload_size, key));
    return true;
  });
  return kExitSuccess;
}

int run(Session& session, const Arguments& arguments) {
  const std::unique_ptr<StoreReader> store = open_store(arguments.file);
  return session.json ? list_as_json(session, *store, arguments) : list_as_text(session, *store, arguments);
}

}  // namespace

void add_ls(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("ls", "List records");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("FILE", arguments->file, "Packed file, manifest, quoted pattern, or name of shards")
      ->required()
      ->type_name("");
  add_selection_options(*command, arguments->selection);
  command->add_flag("--long,-l", arguments->long_form,
                    "Also show number, split, label, class, width x height x channels, codec, bytes");
  add_common_options(*command, session, false);
  command->callback([arguments, &session] {
    session.command = "ls";
    session.chosen = [arguments, &session] { return run(session, *arguments); };
  });
}

}  // namespace imgpack::tools
