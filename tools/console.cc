#include "tools/console.h"

#include <cerrno>

#include <unistd.h>

#include "mmap/system_error.h"

namespace imgpack::tools {

namespace {

constexpr std::size_t kBufferBytes = 64u << 10;

/// Writes all of `text`; 0 or the errno value of what failed.
int write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

void Console::print(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBufferBytes) flush();
}

void Console::print_json(const Json& document) {
  print(document.dump(2, ' ', false, Json::error_handler_t::replace));
  print("\n");
}

void Console::flush() {
  const int failure = write_all(out_, buffer_);
  buffer_.clear();
  if (failure == EPIPE) throw OutputClosed{};
  if (failure != 0) throw system_error(failure, "write", "standard output");
}

void Console::note(std::string_view text) noexcept {
  static_cast<void>(write_all(err_, text));
}

bool Console::error_is_terminal() const noexcept {
  return ::isatty(err_) == 1;
}

}  // namespace imgpack::tools
