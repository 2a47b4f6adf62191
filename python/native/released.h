// Working without the GIL.
#pragma once

#include <nanobind/nanobind.h>

namespace imgpack::python {

/// Gives up the GIL while it lives, as nanobind::gil_scoped_release does. But a thread that would come back after the
/// interpreter has ended (a daemon thread, say) sleeps instead: Python would end it by unwinding its stack, which C++
/// takes for a fatal error.
class Released {
 public:
  Released() noexcept : state_(PyEval_SaveThread()) {}
  ~Released();
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* state_;
};

/// Lets the interpreter's end be known, once for the process.
void watch_for_the_end();

}  // namespace imgpack::python
