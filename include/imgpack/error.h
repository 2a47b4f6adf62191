// The one exception type that imgpack throws.
//
// An Error says what went wrong in one sentence, and, where they are known, in which file, at which record and at
// which byte. Hot loops do not throw per record: they return enums and turn them into an Error at their edge.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace imgpack {

enum class ErrorCode : std::uint8_t {
  invalid_argument,  ///< the caller asked for something that makes no sense
  not_found,         ///< a named file, record, class or key does not exist
  already_exists,    ///< an output exists and overwriting was not allowed
  busy,              ///< another process is building the same output
  refused,           ///< an input was looked at and cannot be packed
  damaged,           ///< a packed file does not hold what it promises
  unsupported,       ///< this build, or this version, lacks a part; the message names it
  io,                ///< the operating system failed: disk full, read error, permission
  out_of_memory,     ///< memory ran out, or a size is beyond a stated limit
};

/// Name of `code` as used in `--json` output: "invalid_argument", "not_found", ...
std::string_view to_string(ErrorCode code) noexcept;

/// Where an error happened. Every part may be unknown.
struct ErrorPlace {
  std::string file = {};                     ///< path as the caller named it; empty if unknown
  std::optional<std::uint64_t> record = {};  ///< record number in that file
  std::optional<std::uint64_t> offset = {};  ///< byte offset in that file
};

class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message, ErrorPlace place = {});

  ErrorCode code() const noexcept { return code_; }
  /// The reason alone, without the place.
  const std::string& message() const noexcept { return message_; }
  const ErrorPlace& place() const noexcept { return place_; }
  /// "FILE: record 12: offset 4096: reason", with the parts that are known.
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  ErrorCode code_;
  std::string message_;
  ErrorPlace place_;
  std::string what_;
};

}  // namespace imgpack
