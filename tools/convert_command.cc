// imgpack convert IN OUT
#include <memory>

#include <CLI/CLI.hpp>

#include "imgpack/build.h"
#include "tools/packing_options.h"
#include "tools/packing_report.h"
#include "tools/session.h"

namespace imgpack::tools {

namespace {

struct Arguments {
  std::string input;
  std::string output;
  PackingOptions packing;
};

int run(Session& session, const Arguments& arguments) {
  return run_packing(session, arguments.packing,
                     [&](const BuildOptions& options) { return convert(arguments.input, arguments.output, options); });
}

}  // namespace

void add_convert(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("convert", "Write a packed dataset in another format or variant");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("IN", arguments->input, "Packed file, manifest, quoted pattern, or name of shards")
      ->required()
      ->type_name("");
  command->add_option("OUT", arguments->output, "File to write")->required()->type_name("");
  add_packing_options(*command, arguments->packing);
  add_common_options(*command, session, true);
  command->callback([arguments, &session] {
    session.command = "convert";
    session.chosen = [arguments, &session] { return run(session, *arguments); };
  });
}

}  // namespace imgpack::tools
