// What every subcommand is given, and how it says what is to be run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tools/console.h"

namespace CLI {
class App;
}

namespace imgpack::tools {

enum class ProgressMode : std::uint8_t {
  automatic,  ///< a line that is overwritten, on terminals only
  plain,      ///< whole lines, also into files and pipes
  none,
};

struct Session {
  explicit Session(Console& console_in) : console(console_in) {}

  Console& console;
  bool json = false;
  bool quiet = false;
  ProgressMode progress = ProgressMode::automatic;

  std::string command;          ///< name of the chosen subcommand
  std::string source;           ///< SOURCE of a build: an error about it as a whole is not about one file in it
  std::function<int()> chosen;  ///< set while parsing; returns the exit code

  /// Whether results go to people, as text.
  bool speaks() const noexcept { return !json && !quiet; }
};

/// --json and --quiet, and where it makes sense --progress.
void add_common_options(CLI::App& command, Session& session, bool with_progress);

// One a subcommand, each in its own file.
void add_build(CLI::App& app, Session& session);
void add_verify(CLI::App& app, Session& session);
void add_info(CLI::App& app, Session& session);
void add_ls(CLI::App& app, Session& session);
void add_extract(CLI::App& app, Session& session);
void add_convert(CLI::App& app, Session& session);
void add_merge(CLI::App& app, Session& session);
void add_bench(CLI::App& app, Session& session);
void add_doctor(CLI::App& app, Session& session);
void add_view(CLI::App& app, Session& session);
void add_completion(CLI::App& app, Session& session);

}  // namespace imgpack::tools
