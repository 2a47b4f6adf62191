#include "tools/command_line.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <map>
#include <new>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "imgpack/build.h"
#include "imgpack/error.h"
#include "imgpack/store.h"
#include "tools/errors.h"
#include "tools/interrupt.h"
#include "tools/session.h"
#include "tools/text.h"

namespace imgpack::tools {

namespace {

constexpr Format kFormats[] = {Format::rec, Format::lmdb, Format::hdf5, Format::tfrecord};

void flush_quietly(Console& console) noexcept {
  try {
    console.flush();
  } catch (...) {
    console.drop();
  }
}

/// Tells about a failure in the way that was asked for, and returns `exit_code`, or that of a failing output.
int fail(Session& session, const Json& error, std::string_view text, std::string_view hint, int exit_code) {
  if (session.json) {
    session.console.drop();  // half a document must not stand before the one about the failure
  } else {
    flush_quietly(session.console);
  }
  std::string message = fmt::format("imgpack: {}\n", printable(text));
  if (!hint.empty()) message += fmt::format("hint: {}\n", hint);
  session.console.note(message);
  if (!session.json) return exit_code;
  try {
    session.console.print_json({{"error", error}});
    session.console.flush();
  } catch (...) {
    return kExitMachine;
  }
  return exit_code;
}

int fail(Session& session, const Error& error) {
  const int signal = interrupted_by();
  if (signal != 0 && error.message() == "cancelled") {
    return fail(session, error_json("interrupted", "interrupted by a signal"), "interrupted",
                session.command == "build" || session.command == "convert"
                    ? "the same command with --resume goes on from here"
                    : "",
                128 + signal);
  }
  return fail(session, error_json(error), error.what(), hint_for(error, session.command, session.source),
              exit_code_of(error.code()));
}

void show_version(Session& session) {
  if (session.json) {
    Json formats;
    for (const Format format : kFormats) formats[std::string(to_string(format))] = format_available(format);
    session.console.print_json({{"version", version()}, {"formats", formats}});
  } else {
    session.console.print(fmt::format("imgpack {}\n", version()));
  }
}

void declare(CLI::App& app, Session& session, bool& wants_version) {
  app.name("imgpack");
  app.require_subcommand(0, 1);
  app.failure_message(CLI::FailureMessage::simple);
  app.get_formatter()->column_width(34);
  app.add_flag("--version", wants_version, "Print the version and exit");
  add_common_options(app, session, false);
  add_build(app, session);
  add_verify(app, session);
  add_info(app, session);
  add_ls(app, session);
  add_extract(app, session);
  add_convert(app, session);
  add_merge(app, session);
  add_bench(app, session);
  add_doctor(app, session);
  add_view(app, session);
  add_completion(app, session);
  app.footer("Exit codes: 0 success; 1 damaged data or refused files; 2 wrong usage; 3 the machine failed.");
}

/// The help text of the subcommand that was being parsed.
std::string help_of(const CLI::App& app) {
  const std::vector<const CLI::App*> chosen = app.get_subcommands({});
  for (const CLI::App* command : chosen) {
    if (command->parsed()) return command->help(app.get_name());
  }
  return app.help();
}

int parse_and_run(const std::vector<std::string>& arguments, Session& session) {
  CLI::App app("Packs image folders into one file for training, and takes such files apart again.");
  bool wants_version = false;
  declare(app, session, wants_version);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    session.console.print(help_of(app));
    session.console.flush();
    return kExitSuccess;
  } catch (const CLI::ParseError& error) {
    // Parsing may have ended before it reached --json.
    session.json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
    return fail(session, error_json(to_string(ErrorCode::invalid_argument), error.what()), error.what(),
                "imgpack --help lists the commands, imgpack COMMAND --help the options of one", kExitUsage);
  }
  if (wants_version) {
    show_version(session);
    session.console.flush();
    return kExitSuccess;
  }
  if (!session.chosen) {
    return fail(session, error_json(to_string(ErrorCode::invalid_argument), "a command is needed"),
                "a command is needed", "imgpack --help lists them", kExitUsage);
  }
  const int exit_code = session.chosen();
  session.console.flush();
  return exit_code;
}

}  // namespace

void add_common_options(CLI::App& command, Session& session, bool with_progress) {
  command.add_flag("--json", session.json, "Print one JSON document on standard output, and nothing else there");
  command.add_flag("--quiet,-q", session.quiet, "Print errors only");
  if (!with_progress) return;
  const std::map<std::string, ProgressMode> modes = {
      {"auto", ProgressMode::automatic}, {"plain", ProgressMode::plain}, {"none", ProgressMode::none}};
  command.add_option("--progress", session.progress, "Progress on standard error: auto shows it on terminals only")
      ->transform(CLI::CheckedTransformer(modes).description("{auto,plain,none}"));
}

int run_command_line(const std::vector<std::string>& arguments, Console& console) {
  Session session(console);
  try {
    return parse_and_run(arguments, session);
  } catch (const OutputClosed&) {
    return 128 + SIGPIPE;
  } catch (const Error& error) {
    return fail(session, error);
  } catch (const std::bad_alloc&) {
    return fail(session, Error(ErrorCode::out_of_memory, "not enough memory"));
  } catch (const std::exception& error) {
    return fail(session, Error(ErrorCode::io, error.what()));
  }
}

}  // namespace imgpack::tools
