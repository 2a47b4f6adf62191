// What belongs to a device is left alone in a child after fork(), where CUDA does not work.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <memory>

namespace imgpack {

/// A deleter that does nothing in a child of the process that it was made in.
class InOwnProcess {
 public:
  template <class Value>
  void operator()(Value* value) const noexcept {
    if (here()) delete value;
  }
  bool here() const noexcept { return getpid() == process_; }

 private:
  pid_t process_ = getpid();
};

template <class Value>
using OwnProcessPtr = std::unique_ptr<Value, InOwnProcess>;

}  // namespace imgpack
