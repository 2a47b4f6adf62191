#include "python/native/background.h"

#include <chrono>
#include <future>
#include <utility>

#include "mmap/blocked_signals.h"
#include "python/native/released.h"

namespace imgpack::python {

namespace nb = nanobind;

namespace {

constexpr std::chrono::milliseconds kSlice{50};

void call_back(const nb::object& callback, ProgressBoard& board) {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  const std::optional<Progress> progress = board.take();
  if (progress && !callback.is_none()) callback(*progress);
}

}  // namespace

bool ProgressBoard::post(const Progress& progress) {
  const std::lock_guard lock(mutex_);
  latest_ = progress;
  return !cancelled_;
}

std::optional<Progress> ProgressBoard::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(latest_, std::nullopt);
}

void run_in_background(const nb::object& callback, const std::function<void(ProgressBoard&)>& work) {
  ProgressBoard board;
  std::future<void> future;
  {
    const BlockedSignals blocked;
    future = std::async(std::launch::async, [&] { work(board); });
  }
  const auto ready_within = [&future](std::chrono::milliseconds time) {
    const Released released;
    return future.wait_for(time) == std::future_status::ready;
  };
  try {
    while (!ready_within(kSlice)) call_back(callback, board);
    future.get();
    call_back(callback, board);
  } catch (...) {
    board.cancel();
    if (future.valid()) {
      const Released released;
      future.wait();
    }
    throw;
  }
}

}  // namespace imgpack::python
