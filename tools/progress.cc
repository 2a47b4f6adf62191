#include "tools/progress.h"

#include <fmt/format.h>

#include "tools/interrupt.h"
#include "tools/text.h"

namespace imgpack::tools {

namespace {

constexpr std::chrono::milliseconds kBetweenRedraws{100};
constexpr std::chrono::milliseconds kBetweenLines{1000};
constexpr double kSecondsBeforeRates = 0.5;
constexpr std::string_view kClearLine = "\r\x1b[K";

std::string_view name_of(BuildProgress::Stage stage) {
  switch (stage) {
    case BuildProgress::Stage::scanning:
      return "scanning";
    case BuildProgress::Stage::packing:
      return "packing";
    case BuildProgress::Stage::finishing:
      break;
  }
  return "finishing";
}

}  // namespace

Progress::Progress(Session& session) : console_(session.console), style_(Style::silent) {
  if (session.quiet || session.progress == ProgressMode::none) return;
  if (session.progress == ProgressMode::plain) style_ = Style::lines;
  if (session.progress == ProgressMode::automatic && console_.error_is_terminal()) style_ = Style::overwritten;
}

Progress::~Progress() {
  if (line_open_) console_.note(kClearLine);
}

void Progress::update(std::string_view doing, std::uint64_t done, std::uint64_t total, std::uint64_t bytes) {
  if (style_ == Style::silent) return;
  const Clock::time_point now = Clock::now();
  const bool new_stage = doing != doing_;
  if (new_stage) {
    doing_ = doing;
    stage_start_ = now;
    stage_first_ = done;
  }
  const auto pause = style_ == Style::lines ? kBetweenLines : kBetweenRedraws;
  if (!new_stage && now - last_shown_ < pause) return;
  last_shown_ = now;
  const std::string text = describe(done, total, bytes, std::chrono::duration<double>(now - stage_start_).count());
  if (style_ == Style::lines) {
    console_.note(text + "\n");
  } else {
    console_.note(std::string(kClearLine) + text);
    line_open_ = true;
  }
}

std::string Progress::describe(std::uint64_t done, std::uint64_t total, std::uint64_t bytes, double seconds) const {
  std::string text = doing_;
  if (total != 0) {
    text += fmt::format(" {} of {} ({:.0f} %)", count_text(done), count_text(total),
                        100 * ratio(static_cast<double>(done), static_cast<double>(total)));
  } else if (done != 0) {
    text += fmt::format(" {}", count_text(done));
  }
  if (bytes != 0) text += fmt::format(", {}", size_text(static_cast<double>(bytes)));
  if (seconds < kSecondsBeforeRates || done <= stage_first_) return text;
  const double rate = static_cast<double>(done - stage_first_) / seconds;
  text += fmt::format(", {}/s", count_text(static_cast<std::uint64_t>(rate)));
  if (total > done) text += fmt::format(", {} left", duration_text(static_cast<double>(total - done) / rate));
  return text;
}

bool show_build_progress(Progress& progress, const BuildProgress& state) {
  // While the source is scanned there is nothing to be resumed: the process may end at once.
  if (state.stage != BuildProgress::Stage::scanning) catch_interrupts();
  progress.update(name_of(state.stage), state.entries_done, state.entries_total, state.bytes_done);
  return interrupted_by() == 0;
}

}  // namespace imgpack::tools
