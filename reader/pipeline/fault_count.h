// Whether records come from disk, told from the page faults that making samples has met.
#pragma once

#include <cstdint>

namespace imgpack {

/// Of one epoch.
class FaultCount {
 public:
  /// `faults`: of pages that had to be read from disk, while `samples` were made.
  void add(std::uint64_t faults, std::uint64_t samples) noexcept {
    faults_ += faults;
    samples_ += samples;
  }
  /// A few faults happen with datasets that are in memory too, and one may bring megabytes.
  bool is_cold() const noexcept { return faults_ >= kFewFaults && faults_ * kSamplesOfFault >= samples_; }

 private:
  static constexpr std::uint64_t kFewFaults = 8;
  static constexpr std::uint64_t kSamplesOfFault = 256;

  std::uint64_t faults_ = 0;
  std::uint64_t samples_ = 0;
};

}  // namespace imgpack
