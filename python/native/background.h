// Long work of the library under a Python program: without the GIL, with progress, and ended by Ctrl-C.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>

#include <nanobind/nanobind.h>

namespace imgpack::python {

struct Progress {
  std::string_view stage;   ///< of static lifetime
  std::uint64_t done = 0;   ///< entries or records
  std::uint64_t total = 0;  ///< 0 while unknown
  std::uint64_t bytes = 0;  ///< 0 where it is not counted
};

/// Where working threads leave how far they are, and learn that they should stop. Thread-safe.
class ProgressBoard {
 public:
  /// Returns false once cancel() was called.
  bool post(const Progress& progress);
  /// What was posted last, unless it was taken before.
  std::optional<Progress> take();
  void cancel() noexcept { cancelled_ = true; }

 private:
  std::mutex mutex_;
  std::optional<Progress> latest_;
  std::atomic<bool> cancelled_ = false;
};

/// Runs `work` on a thread of its own, while the calling thread, which has the GIL, gives progress to `callback` (or
/// None) some times a second and looks for signals. An exception of either makes the board tell `work` to stop; once it
/// has, the exception goes on. Throws what `work` throws.
void run_in_background(const nanobind::object& callback, const std::function<void(ProgressBoard&)>& work);

}  // namespace imgpack::python
