// Finds by trying how many threads deliver most.
#pragma once

#include <cstdint>

namespace imgpack {

/// A hill climb over thread counts. It is told now and then how far the work has come; while the consumer waits for the
/// loader it tries a neighbouring number, keeps it if it was better by some percent, else goes back and tries the other
/// direction, and longer and longer after that nothing. While the loader waits for the consumer the number is of no
/// importance and stays. Not thread-safe.
class ThreadTuner {
 public:
  /// Starts with `threads`, stays from 1 to `most`. With 1 <= threads <= most.
  /// `window`: seconds that a number is measured.
  ThreadTuner(unsigned threads, unsigned most, double window = 0.5) noexcept
      : threads_(threads), most_(most), window_(window) {}

  unsigned threads() const noexcept { return threads_; }

  struct Progress {
    double seconds = 0;       ///< since any beginning, growing
    double samples = 0;       ///< finished since then
    double wait_seconds = 0;  ///< that the consumer has waited since then
  };
  /// Any number of times; mostly does nothing.
  void update(const Progress& now) noexcept;

 private:
  static constexpr double kBound = 0.1;          ///< part of a window that the consumer must have waited
  static constexpr double kBetter = 1.03;        ///< of the rate
  static constexpr double kLongestPause = 60.0;  ///< seconds between tries

  void try_neighbour() noexcept;

  unsigned threads_;
  unsigned most_;
  double window_;
  Progress begin_;  ///< of the window
  bool begun_ = false;
  bool trying_ = false;  ///< threads_ is a try; the number before was before_
  unsigned before_ = 0;
  double rate_before_ = 0;
  int direction_ = -1;
  int failures_ = 0;  ///< tries in a row that were no better
  double next_try_ = 0;
};

}  // namespace imgpack
