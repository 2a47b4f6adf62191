#include "python/native/released.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <pthread.h>
#include <unistd.h>

namespace imgpack::python {

namespace nb = nanobind;

namespace {

/// Set for good by the thread that ends the interpreter; it alone may still take the GIL.
std::atomic<bool> ending = false;
std::thread::id ending_thread;
/// Threads that have seen `ending` unset and have not got the GIL yet. The end waits for them.
std::atomic<int> returning = 0;

void begin_the_end() {
  ending_thread = std::this_thread::get_id();
  ending = true;
  PyThreadState* const state = PyEval_SaveThread();
  while (returning != 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  PyEval_RestoreThread(state);
}

}  // namespace

Released::~Released() {
  ++returning;
  if (ending && std::this_thread::get_id() != ending_thread) {
    --returning;
    while (true) ::pause();
  }
  PyEval_RestoreThread(state_);
  --returning;
}

void watch_for_the_end() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&begin_the_end));
  ::pthread_atfork(nullptr, nullptr, [] { returning = 0; });  // the child has none of the other threads
}

}  // namespace imgpack::python
