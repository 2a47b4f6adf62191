#include "mmap/blocked_signals.h"

#include <initializer_list>

namespace imgpack {

BlockedSignals::BlockedSignals() noexcept {
  sigset_t blocked;
  sigfillset(&blocked);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&blocked, own);
  pthread_sigmask(SIG_SETMASK, &blocked, &before_);
}

BlockedSignals::~BlockedSignals() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace imgpack
