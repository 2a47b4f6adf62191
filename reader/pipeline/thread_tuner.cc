#include "reader/pipeline/thread_tuner.h"

#include <algorithm>
#include <cmath>

namespace imgpack {

void ThreadTuner::update(const Progress& now) noexcept {
  if (!begun_) {
    begin_ = now;
    begun_ = true;
    return;
  }
  const double elapsed = now.seconds - begin_.seconds;
  if (elapsed < window_) return;
  const double rate = (now.samples - begin_.samples) / elapsed;
  const bool bound = now.wait_seconds - begin_.wait_seconds > kBound * elapsed;
  begin_ = now;
  if (trying_) {
    trying_ = false;
    if (bound && rate > rate_before_ * kBetter) {
      failures_ = 0;
    } else {
      threads_ = before_;
      direction_ = -direction_;
      ++failures_;
      next_try_ = now.seconds + std::min(std::ldexp(window_, failures_), kLongestPause);
      return;  // the next window measures the old number again
    }
  }
  if (!bound || now.seconds < next_try_) return;
  rate_before_ = rate;
  before_ = threads_;
  try_neighbour();
}

void ThreadTuner::try_neighbour() noexcept {
  if (most_ == 1) return;
  if (direction_ < 0 ? threads_ == 1 : threads_ == most_) direction_ = -direction_;
  threads_ = direction_ < 0 ? threads_ - 1 : threads_ + 1;
  trying_ = true;
}

}  // namespace imgpack
