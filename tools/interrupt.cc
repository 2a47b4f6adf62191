#include "tools/interrupt.h"

#include <csignal>
#include <utility>

#include "imgpack/error.h"

namespace imgpack::tools {

namespace {

volatile std::sig_atomic_t noted_signal = 0;

extern "C" void note_signal(int number) {
  noted_signal = number;
}

}  // namespace

void catch_interrupts() {
  static bool caught = false;
  if (std::exchange(caught, true)) return;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction before {};
    // A shell starts background jobs with SIGINT ignored, nohup-like tools do so with others: that stays.
    if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
      ::sigaction(number, &action, nullptr);
    }
  }
}

int interrupted_by() noexcept {
  return noted_signal;
}

void stop_if_interrupted() {
  if (noted_signal != 0) throw Error(ErrorCode::invalid_argument, "cancelled");
}

}  // namespace imgpack::tools
