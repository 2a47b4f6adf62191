// Running a check with every instruction set that vector kernels were compiled for. For tests that link Highway.
#pragma once

#include <cstdint>

#include <doctest/doctest.h>
#include <hwy/highway.h>

namespace imgpack::testing {

/// Calls `check` once for each instruction set of this processor and this build.
template <class Check>
void for_each_target(Check check) {
  const auto choose = [](std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  };
  int targets = 0;
  for (std::int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    choose(target);
    CAPTURE(hwy::TargetName(target));
    check();
    ++targets;
  }
  choose(0);
  CHECK(targets > 0);
}

}  // namespace imgpack::testing
