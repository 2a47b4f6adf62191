// imgpack build SOURCE OUT
#include <memory>

#include <CLI/CLI.hpp>

#include "imgpack/build.h"
#include "tools/packing_options.h"
#include "tools/packing_report.h"
#include "tools/session.h"

namespace imgpack::tools {

namespace {

struct Arguments {
  std::string source;
  std::string output;
  PackingOptions packing;
};

int run(Session& session, const Arguments& arguments) {
  session.source = arguments.source;
  return run_packing(session, arguments.packing,
                     [&](const BuildOptions& options) { return build(arguments.source, arguments.output, options); });
}

}  // namespace

void add_build(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("build", "Pack a folder, tar or manifest");
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("SOURCE", arguments->source,
                   "Folder of images, ImageNet's tars, WebDataset tars, or CSV/TSV manifest")
      ->required()
      ->type_name("");
  command->add_option("OUT", arguments->output, "File to write; with shards, OUT-00000-of-0000N.EXT")
      ->required()
      ->type_name("");
  add_packing_options(*command, arguments->packing);
  add_common_options(*command, session, true);
  command->callback([arguments, &session] {
    session.command = "build";
    session.chosen = [arguments, &session] { return run(session, *arguments); };
  });
}

}  // namespace imgpack::tools
