// Standard output and standard error of the command: the only place that writes to them.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace imgpack::tools {

/// Keeps the order in which keys are added, so that documents read well and are the same on every run.
using Json = nlohmann::ordered_json;

/// Thrown when the reader of standard output has gone (EPIPE): the command ends without a word.
struct OutputClosed {};

/// Not thread-safe. Both descriptors are borrowed.
class Console {
 public:
  Console(int out, int err) noexcept : out_(out), err_(err) {}
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// Adds to standard output, through a buffer. Throws io if writing fails, OutputClosed if nobody reads.
  void print(std::string_view text);
  /// One JSON document and a line end.
  void print_json(const Json& document);
  /// Writes what is buffered; must be called before a successful exit.
  void flush();
  /// Drops what is buffered: for errors after which standard output must hold something else.
  void drop() noexcept { buffer_.clear(); }

  /// Writes to standard error at once. Never fails: there is nobody left to tell.
  void note(std::string_view text) noexcept;
  /// Whether standard error is a terminal, on which a line can be overwritten.
  bool error_is_terminal() const noexcept;

 private:
  int out_;
  int err_;
  std::string buffer_;
};

}  // namespace imgpack::tools
