// Keeping a program's signals away from threads that a library starts.
#pragma once

#include <csignal>

namespace imgpack {

/// While it lives, this thread and those that it starts get no signals, but for those that a thread's own faults raise:
/// these are for crash reporters and sanitizers.
class BlockedSignals {
 public:
  BlockedSignals() noexcept;
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace imgpack
