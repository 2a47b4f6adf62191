// The command as a function: arguments in, exit code out.
#pragma once

#include <string>
#include <vector>

#include "tools/console.h"

namespace imgpack::tools {

/// Runs `imgpack ARGUMENTS...` (without the program's name). Never throws: failures become a message on standard error,
/// or with --json a document on standard output, and an exit code.
/// Returns 128 + N if the command was stopped by signal N, after which the caller should let the signal end the
/// process.
int run_command_line(const std::vector<std::string>& arguments, Console& console);

}  // namespace imgpack::tools
