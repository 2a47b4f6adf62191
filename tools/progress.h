// The progress line on standard error: what is being done, how far it is, how fast, how long it will still take.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "imgpack/build.h"
#include "tools/session.h"

namespace imgpack::tools {

/// Shows nothing with --quiet, with --progress none, or by default when standard error is no terminal.
/// update() may be called as often as one likes. Not thread-safe.
class Progress {
 public:
  explicit Progress(Session& session);
  /// Clears a terminal's line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `total` 0: unknown. `bytes` 0: not shown.
  void update(std::string_view doing, std::uint64_t done, std::uint64_t total, std::uint64_t bytes);

 private:
  using Clock = std::chrono::steady_clock;
  enum class Style : std::uint8_t { silent, overwritten, lines };

  std::string describe(std::uint64_t done, std::uint64_t total, std::uint64_t bytes, double seconds) const;

  Console& console_;
  Style style_;
  std::string doing_;
  Clock::time_point stage_start_{};
  std::uint64_t stage_first_ = 0;  ///< `done` when this stage began: a resumed build does not begin at 0
  Clock::time_point last_shown_{};
  bool line_open_ = false;
};

/// Shows the progress of a build. Returns whether it should go on: from the packing stage on, interrupts are caught.
bool show_build_progress(Progress& progress, const BuildProgress& state);

}  // namespace imgpack::tools
