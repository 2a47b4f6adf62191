// What a failure means to the caller of the command: exit code, hint, JSON.
#pragma once

#include <string>
#include <string_view>

#include "imgpack/error.h"
#include "tools/console.h"

namespace imgpack::tools {

inline constexpr int kExitSuccess = 0;
inline constexpr int kExitDamaged = 1;  ///< the data is damaged, or files were refused
inline constexpr int kExitUsage = 2;
inline constexpr int kExitMachine = 3;  ///< I/O, memory, a part that this build lacks

int exit_code_of(ErrorCode code) noexcept;

/// What to do about `error` in `command` ("build", ...); empty where the message says it all. `source` is what a build
/// was to pack.
std::string_view hint_for(const Error& error, std::string_view command, std::string_view source);

/// {"code", "message", "file", "record", "offset"}; what is unknown is null.
Json error_json(const Error& error);
Json error_json(std::string_view code, std::string_view message);

/// `text` as a JSON string; bytes that are not UTF-8 become \xNN.
std::string json_text(std::string_view text);

}  // namespace imgpack::tools
