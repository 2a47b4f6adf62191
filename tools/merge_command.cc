// imgpack merge OUT FILE...
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <unistd.h>

#include "imgpack/build.h"
#include "imgpack/store.h"
#include "mmap/publish.h"
#include "mmap/system_error.h"
#include "tools/errors.h"
#include "tools/interrupt.h"
#include "tools/packing_options.h"
#include "tools/packing_report.h"
#include "tools/session.h"
#include "tools/text.h"

namespace imgpack::tools {

namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string output;
  std::vector<std::string> inputs;
  bool copy = false;
  PackingOptions packing;
};

/// A file that is removed again: the manifest through which several inputs become one.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& beside) {
    std::string name = beside.string() + ".inputs-XXXXXX";
    const int descriptor = ::mkstemp(name.data());
    if (descriptor < 0) throw system_error(errno, "create a temporary file", name);
    ::close(descriptor);
    path_ = name;
  }
  ~TemporaryFile() { remove_quietly(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
};

int join_by_copy(Session& session, const Arguments& arguments) {
  catch_interrupts();  // from here on there is a file to be removed again
  const TemporaryFile inputs(arguments.output);
  merge(inputs.path(), {arguments.inputs.begin(), arguments.inputs.end()}, true);
  return run_packing(session, arguments.packing,
                     [&](const BuildOptions& options) { return convert(inputs.path(), arguments.output, options); });
}

int join_by_manifest(Session& session, const Arguments& arguments) {
  merge(arguments.output, {arguments.inputs.begin(), arguments.inputs.end()}, arguments.packing.build.overwrite);
  const std::unique_ptr<StoreReader> joined = open_store(arguments.output);
  if (session.json) {
    Json inputs = Json::array();
    for (const std::string& input : arguments.inputs) inputs.push_back(json_text(input));
    session.console.print_json({{"output", json_text(arguments.output)},
                                {"inputs", inputs},
                                {"records", joined->size()},
                                {"payload_bytes", joined->info().payload_bytes}});
  } else if (session.speaks()) {
    session.console.print(fmt::format("{}: a manifest of {}, {}\n", printable(arguments.output),
                                      count_of(arguments.inputs.size(), "file", "files"),
                                      count_of(joined->size(), "record", "records")));
  }
  return kExitSuccess;
}

}  // namespace

void add_merge(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("merge", "Join packed files as one sequence of records");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("OUT", arguments->output, "Manifest to write; with --copy, packed file to write")
      ->required()
      ->type_name("");
  command->add_option("FILE", arguments->inputs, "Packed files, in the order wanted")->required()->type_name("");
  CLI::Option* copy =
      command->add_flag("--copy", arguments->copy, "Copy all records into one file instead of writing a manifest");
  add_output_options(*command, arguments->packing);
  for (const char* name : {"--format", "--threads", "--align", "--metadata"}) command->get_option(name)->needs(copy);
  add_common_options(*command, session, true);
  command->callback([arguments, &session] {
    session.command = "merge";
    session.chosen = [arguments, &session] {
      return arguments->copy ? join_by_copy(session, *arguments) : join_by_manifest(session, *arguments);
    };
  });
}

}  // namespace imgpack::tools
